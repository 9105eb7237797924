// The gate page: from a judge's rates, a base rate and the cost of a miss to what a gate lets pass, stops and costs.
// Its address is its state. A rate is [value, low, high, n].
(function () {
  "use strict";

  const CASES = 1000;
  const MOST_UNREAD = 0.5; // share of unread replies beyond which nothing is concluded
  const gate = (window.bookGate = {});

  // --- the formulas

  /** a × recall + b × false alarms + k with its interval: the two rates' squared and added with their correlation. */
  function combined(judge, [a, b, k]) {
    const { recall, alarms, together = 0 } = judge;
    function end(sign) {
      const [one, other] = [[a, recall], [b, alarms]].map(([by, [value, low, high]]) => by * ((by > 0) === (sign > 0) ? high - value : value - low));
      return Math.sqrt(Math.max(0, one * one + other * other + 2 * together * one * other));
    }
    const value = a * recall[0] + b * alarms[0] + k;
    return [value, value - end(-1), value + end(1)];
  }

  /** Expected costs of a case, in false alarms, as factors of recall, false alarms and 1. */
  const costs = (rate, miss) => ({ gate: [-rate * miss, 1 - rate, rate * miss], pass: [0, 0, rate * miss], stop: [0, 0, 1 - rate] });

  /** "below", "above" or "between": where the gate's cost is beside another's, if its interval tells. */
  function beside(judge, rate, miss, other) {
    const all = costs(rate, miss);
    const [, low, high] = combined(judge, all.gate.map((factor, i) => factor - all[other][i]));
    return high < 0 ? "below" : low > 0 ? "above" : "between";
  }

  /** The cost of a miss from which the gate beats passing all, and up to which it beats stopping all. */
  gate.pays = function (judge, rate) {
    const [[recall], [alarms]] = [judge.recall, judge.alarms];
    const bound = (above, below) => (below > 0 ? above / below : above > 0 ? Infinity : 0);
    return [bound((1 - rate) * alarms, rate * recall), recall < 1 ? bound((1 - rate) * (1 - alarms), rate * (1 - recall)) : Infinity];
  };

  /** Share of the alarms that are true, null without alarms; its bounds are where the difference that it solves is 0. */
  function precision(judge, rate) {
    const [hits, false_] = [rate * judge.recall[0], (1 - rate) * judge.alarms[0]];
    const bound = function (end) {
      let [low, high] = [0, 1];
      for (let i = 0; i < 40; i++) {
        const share = (low + high) / 2;
        if (combined(judge, [rate * (1 - share), -(1 - rate) * share, 0])[end] > 0) low = share;
        else high = share;
      }
      return low > 1 - 1e-9 ? 1 : low;
    };
    return hits + false_ > 0 ? [hits / (hits + false_), bound(1), bound(2)] : null;
  }

  /** Everything that the page says of a judge as a gate. */
  gate.outcome = function (judge, rate, miss) {
    return {
      passed: combined(judge, [-rate * CASES, 0, rate * CASES]),
      stopped: combined(judge, [0, (1 - rate) * CASES, 0]),
      precision: precision(judge, rate),
      cost: combined(judge, costs(rate, miss).gate.map((factor) => factor * CASES)),
      pays: gate.pays(judge, rate),
      pass: beside(judge, rate, miss, "pass"),
      stop: beside(judge, rate, miss, "stop"),
      unread: judge.unread ?? 0,
    };
  };

  // --- words and numbers

  const number = (value, digits) => value.toLocaleString("en", { maximumFractionDigits: digits });
  const round = (value) => (!isFinite(value) ? "any" : number(value, Math.abs(value) < 10 ? 1 : 0));
  const percent = (value) => `${number(100 * value, value > 0 && value < 0.1 ? 1 : 0)} %`;

  function ranged([value, low, high], text) {
    return high - low > 1e-9 ? `${text(value)} [${text(low)},\u00a0${text(high)}]` : text(value);
  }

  function range([from, to]) {
    if (from >= to) return "never";
    return isFinite(to) ? `${round(from)} to ${round(to)}` : `${round(from)} and more`;
  }

  function reading({ pass, stop, unread }) {
    if (unread > MOST_UNREAD) return "most replies unread";
    if (pass === "below" && stop === "below") return "pays";
    if (pass === "above") return "dearer than passing all";
    if (stop === "above") return "dearer than stopping all";
    return "not told apart";
  }

  function answer(judge, rate, miss, outcome) {
    const { passed, stopped, pays } = outcome;
    const what = `Of 1,000 cases, ${round(rate * CASES)} of them faulty, ${judge.id} lets ${round(passed[0])} faulty ones pass and stops ${round(stopped[0])} clean ones for nothing.`;
    const worth = {
      pays: "The gate pays: it costs less than passing all and less than stopping all.",
      "dearer than passing all": "The gate does not pay: it is cheaper to let everything pass.",
      "dearer than stopping all": "The gate does not pay: it is cheaper to stop everything.",
      "most replies unread": "Most of its replies could not be read and count as passed, so whether the gate pays is not said.",
      "not told apart": "Whether the gate pays is not told apart: its cost could lie on either side of the cheaper of passing all and stopping all.",
    }[reading(outcome)];
    const where = pays[0] < pays[1]
      ? ` By the point estimates it pays where a miss costs ${isFinite(pays[1]) ? `between ${round(pays[0])} and ${round(pays[1])}` : `more than ${round(pays[0])}`} false alarms.`
      : " By the point estimates it pays at no cost of a miss.";
    return `${what} ${worth}${where}`;
  }

  // --- the page

  const box = document.getElementById("gate");
  if (!box) return;
  const form = box.querySelector("form");
  const fields = form.elements;
  const START = { faults: "silent", rate: "5", cost: "20" };
  let state = {};

  function el(tag, properties, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) name in made ? (made[name] = value) : made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function table(caption, head, rows) {
    const cells = (texts, first) => texts.map((text, i) => el(i && !first ? "td" : "th", { scope: first ? "col" : "row", className: i ? "num" : "" }, text));
    const body = rows.map(({ texts, current }) => el("tr", current ? { "aria-current": "true" } : {}, ...cells(texts)));
    return el("div", { className: "book-table", tabIndex: 0, role: "group", "aria-label": caption }, el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...cells(head, true))), el("tbody", {}, ...body)));
  }

  const run = () => window.gateData.find((one) => one.name === state.run);
  const judges = () => run().judges.map((one) => ({ ...one, recall: one[state.faults], together: one.together[state.faults] })).filter((one) => one.recall[0] !== null && one.alarms[0] !== null);

  function address(changes) {
    const text = new URLSearchParams({ ...state, ...changes }).toString();
    return `#${text.replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
  }

  /** What the address says, where it is possible; what it leaves out as at the start. */
  function read() {
    const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const within = (name) => (given[name] > 0 && Number(given[name]) >= Number(fields[name].min) && Number(given[name]) <= Number(fields[name].max) ? given[name] : START[name]);
    const named = window.gateData.find((one) => one.name === given.run) || window.gateData.find((one) => one.judges.length) || window.gateData[0];
    state = { run: named.name, judge: "", faults: given.faults === "all" ? "all" : "silent", rate: within("rate"), cost: within("cost") };
    const there = judges();
    state.judge = (there.find((one) => one.id === given.judge) || there.find((one) => one.id.includes(":")) || there[0])?.id ?? "";
  }

  function options(select, names, chosen) {
    select.replaceChildren(...names.map((name) => el("option", { value: name }, name)));
    select.value = chosen;
  }

  function show() {
    read();
    options(fields.run, window.gateData.map((one) => one.name), state.run);
    options(fields.judge, judges().map((one) => one.id), state.judge);
    fields.run.closest("label").hidden = window.gateData.length < 2;
    fields.faults.value = state.faults;
    for (const name of ["rate", "cost"]) {
      if (document.activeElement !== fields[name]) fields[name].value = state[name];
      fields[`${name}-slider`].value = Math.log10(state[name]);
      fields[`${name}-slider`].setAttribute("aria-valuetext", state[name]);
    }
    const judge = judges().find((one) => one.id === state.judge);
    const status = box.querySelector(".gate-answer");
    for (const one of box.querySelectorAll("h2, .gate-figure, .gate-cases, .gate-all")) one.hidden = !judge;
    if (!judge) {
      status.textContent = `The run ${state.run} has no judge with both faulty and clean trajectories judged.`;
      return;
    }
    const [rate, miss] = [state.rate / 100, Number(state.cost)];
    const outcome = gate.outcome(judge, rate, miss);
    const said = answer(judge, rate, miss, outcome);
    if (status.textContent !== said) status.textContent = said;
    box.querySelector(".gate-cases").replaceChildren(cases(judge, rate, miss, outcome));
    box.querySelector(".gate-all").replaceChildren(everyJudge(rate, miss));
    draw(judge, rate, miss);
  }

  function cases(judge, rate, miss, outcome) {
    const [faulty, clean] = [rate * CASES, (1 - rate) * CASES];
    const rows = [
      ["faulty cases let pass", ranged(outcome.passed, round), round(faulty), "0"],
      ["clean cases stopped for nothing", ranged(outcome.stopped, round), "0", round(clean)],
      ["share of alarms that are true", outcome.precision ? ranged(outcome.precision, percent) : "–", "–", percent(rate)],
      ["expected cost, in false alarms", ranged(outcome.cost, round), round(faulty * miss), round(clean)],
    ];
    const counts = `recall ${percent(judge.recall[0])} of ${judge.recall[3]} faulty, false alarms ${percent(judge.alarms[0])} of ${judge.alarms[3]} clean trajectories`;
    return table(`${judge.id}: ${counts}`, ["", "this gate [95 %]", "pass all", "stop all"], rows.map((texts) => ({ texts })));
  }

  function everyJudge(rate, miss) {
    const rows = judges().map(function (judge) {
      const outcome = gate.outcome(judge, rate, miss);
      const link = el("a", { href: address({ judge: judge.id }) }, judge.id);
      const texts = [link, round(outcome.passed[0]), round(outcome.stopped[0]), outcome.precision ? percent(outcome.precision[0]) : "–", ranged(outcome.cost, round), range(outcome.pays), reading(outcome)];
      return { texts, current: judge.id === state.judge };
    });
    const head = ["judge", "faulty let pass", "clean stopped", "true alarms", "cost [95 %]", "pays for a miss of", "at this cost"];
    return table(`Per 1,000 cases at ${number(100 * rate, 2)} % faulty, a miss worth ${number(miss, 2)} false alarms`, head, rows);
  }

  // --- the chart

  function draw(judge, rate, miss) {
    const target = box.querySelector(".gate-chart");
    const [width, height] = [Math.max(target.clientWidth, 280), 320];
    const area = { left: 52, right: width - 14, top: 16, bottom: height - 44 };
    const cross = (1 - rate) / rate;
    const upper = gate.pays(judge, rate)[1];
    const most = nice(Math.max(1.25 * miss, 2 * cross, Math.min(isFinite(upper) ? 1.15 * upper : 0, 6 * cross)));
    const top = CASES * (1 - rate) * 1.3;
    const x = (c) => area.left + ((area.right - area.left) * c) / most;
    const y = (cost) => area.bottom - ((area.bottom - area.top) * Math.min(cost, top)) / top;
    const steps = Array.from({ length: 101 }, (_, i) => (most * i) / 100);
    const cost = (c) => combined(judge, costs(rate, c).gate).map((value) => Math.max(0, value * CASES));
    const path = (points) => points.map(([c, value]) => `${x(c).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const band = [...steps.map((c) => [c, cost(c)[2]]), ...steps.map((c) => [c, cost(c)[1]]).reverse()];
    const end = Math.min(most, top / (rate * CASES));
    const last = steps.findLast((c) => cost(c)[0] <= top) ?? 0;
    const parts = [
      ...ticks(most).map((c) => `<line class="axis" x1="${x(c)}" x2="${x(c)}" y1="${area.top}" y2="${area.bottom}"/><text x="${x(c)}" y="${area.bottom + 18}" text-anchor="middle">${number(c, 2)}</text>`),
      ...ticks(top).map((v) => `<line class="axis" x1="${area.left}" x2="${area.right}" y1="${y(v)}" y2="${y(v)}"/><text x="${area.left - 6}" y="${y(v) + 4}" text-anchor="end">${number(v, 0)}</text>`),
      `<polygon points="${path(band)}" fill="${judge.colour}" fill-opacity="0.2"/>`,
      `<polyline class="other" stroke-dasharray="7 4" points="${path([[0, 0], [end, rate * CASES * end]])}"/>`,
      `<polyline class="other" stroke-dasharray="2 4" points="${path([[0, CASES * (1 - rate)], [most, CASES * (1 - rate)]])}"/>`,
      `<polyline points="${path(steps.filter((c) => cost(c)[0] <= top).map((c) => [c, cost(c)[0]]))}" fill="none" stroke="${judge.colour}" stroke-width="2.5"/>`,
      `<line class="chosen" x1="${x(miss)}" x2="${x(miss)}" y1="${area.top}" y2="${area.bottom}"/>`,
      `<circle cx="${x(miss)}" cy="${y(cost(miss)[0])}" r="5" fill="${judge.colour}"/>`,
      `<text x="${area.right}" y="${y(CASES * (1 - rate)) - 7}" text-anchor="end">stop all</text>`,
      `<text x="${x(end * 0.72) - 8}" y="${y(rate * CASES * end * 0.72) - 4}" text-anchor="end">pass all</text>`,
      `<text x="${x(last) - 4}" y="${y(cost(last)[0]) + 20}" text-anchor="${last > most / 2 ? "end" : "start"}">the gate</text>`,
      `<text x="${area.right}" y="${height - 6}" text-anchor="end">what a miss costs, in false alarms</text>`,
      `<text x="4" y="11">expected cost per 1,000 cases</text>`,
    ];
    target.innerHTML = `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true">${parts.join("")}</svg>`;
    target.setAttribute("aria-label", `Expected cost per 1,000 cases against what a miss costs, from 0 to ${number(most, 2)} false alarms. ${answer(judge, rate, miss, gate.outcome(judge, rate, miss))}`);
  }

  function nice(value) {
    const unit = 10 ** Math.floor(Math.log10(value));
    return unit * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * unit >= value * 0.999);
  }

  function ticks(most) {
    const raw = most / 5;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * [1, 2, 2.5, 5, 10].find((one) => one * unit >= raw * 0.999);
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
  }

  // --- what the reader does

  function change(event) {
    const { name, value } = event.target;
    const base = name.replace("-slider", "");
    if (name === base && !event.target.checkValidity()) return;
    const changed = { [base]: name === base ? value : String(Number((10 ** value).toPrecision(2))) };
    history.replaceState(null, "", address(changed));
    show();
  }

  if (!window.gateData?.length) {
    box.replaceChildren(el("p", {}, "The data of this page is missing: build the book again."));
    box.hidden = false;
    return;
  }
  box.hidden = false;
  document.body.removeAttribute("data-bs-spy"); // the theme's scroll spy would take our addresses for selectors
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", change);
  addEventListener("hashchange", show);
  let width = 0;
  new ResizeObserver(function () {
    if (box.clientWidth !== width) show();
    width = box.clientWidth;
  }).observe(box);
})();

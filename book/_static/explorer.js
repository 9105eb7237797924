// The explorer's page: its address is its state, so that a link restores a view and the back button goes back.
(function (explorer) {
  "use strict";

  const { el } = explorer;
  const REST = 150; // milliseconds without a key before what is typed is looked for
  const FILTERS = ["q", "fault", "outcome", "stratum", "judge", "said", "agree", "sort"];
  const STARTS = [
    ["Silent faults that every judge misses", { fault: "faulty", outcome: "right", agree: "wrong" }],
    ["Silent faults that every judge catches", { fault: "faulty", outcome: "right", agree: "right" }],
    ["Loud faults on which the judges are split", { fault: "faulty", outcome: "wrong", agree: "split" }],
    ["Clean trajectories that some judge flags, most confident first", { fault: "clean", said: "flagged", sort: "confident" }],
    ["Faults that are caught, but at the wrong step", { said: "misplaced" }],
    ["Silent faults that the rules miss", { fault: "faulty", outcome: "right", judge: "rules", said: "passed" }],
    ["Replies that could not be read", { said: "notok" }],
  ];

  const box = document.getElementById("explorer");
  const find = (name) => box.querySelector(`.explorer-${name}`);
  const [form, panes, side, detail] = ["filters", "panes", "side", "detail"].map(find);
  const fields = form.elements;
  const title = document.title;
  const list = new explorer.List(find("list"), (row, i) => explorer.fillRow(row, run, i, judge, explorer.terms(state.q)), open);
  let runs = [];
  let run = null;
  let judge = -1; // place of the judge that is filtered for
  let state = {}; // the address, in parts
  let listed = ""; // the filters that the list shows
  let opened = ""; // the trajectory in the detail pane
  let turn = 0; // counts changes of address, so that what arrives late is not shown
  let focus = false; // whether the keyboard follows to what is opened

  // --- the address

  function write(parts) {
    const names = ["run", "t", "j", ...FILTERS].filter((name) => parts[name]);
    const text = new URLSearchParams(names.map((name) => [name, parts[name]])).toString();
    return `#${text.replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
  }

  function address(trajectory, judgeId) { return write({ run: run.name, t: run.ids[trajectory], j: judgeId }); }

  function go(changes, step) {
    history[step ? "pushState" : "replaceState"](null, "", write({ ...state, ...changes }));
    return apply().catch(report);
  }

  /** Make the page show what its address says. */
  async function apply() {
    const mine = ++turn;
    state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const wanted = state.run ? runs.find((one) => one.name === state.run) : runs[0];
    if (wanted) fields.run.value = state.run = wanted.name;
    if (!wanted) return leave(`This book does not show a run ${state.run}.`);
    if (run?.name !== wanted.name) {
      const index = await explorer.load(`${wanted.name}/index`, wanted.version);
      if (mine !== turn) return;
      enter(new explorer.Run(wanted, index));
    }
    if (state.q) await run.loadTexts();
    if (mine !== turn) return;
    filter();
    notice("");
    panes.hidden = false;
    box.dataset.ready = run.name;
    await showDetail(mine);
  }

  function leave(why) {
    list.show([]); // its rows are of the run that is left
    run = null;
    panes.hidden = true;
    notice(why);
  }

  function notice(text) {
    if (find("notice").textContent !== text) find("notice").textContent = text;
  }

  // --- the filters

  function enter(entered) {
    run = entered;
    listed = opened = "";
    const same = (name) => [name, name];
    options("fault", [["faulty", "any fault"], ...["clean", ...run.types].map(same)]);
    options("stratum", [...run.strata, ...(run.instance_strata.includes(-1) ? ["other"] : [])].map(same));
    options("judge", run.judges.map((one) => same(one.id)));
    const [shape, ids] = [(one) => explorer.mark(one), (one) => el("bdi", {}, one.id)];
    find("judges").replaceChildren(...run.judges.map((one) => el("li", {}, shape(one), ids(one))));
    find("columns").replaceChildren(...run.judges.map((one) => el("span", { title: one.id }, shape(one))));
    setTimeout(() => { if (run === entered) begins(); });
    form.classList.toggle("judgeless", !run.judges.length);
    const left = run.judges.filter((one, place) => !run.counting[place]).map((one) => one.id);
    const without = left.length ? ` It and “any judge” leave out the baselines: ${left.join(", ")}.` : "";
    find("counted").textContent = run.judges.length ? `Agreement needs the verdicts of two judges.${without}` : "";
    find("key").hidden = !run.judges.length;
  }

  /** Views of the run that are worth a look, under their heading if there are any. */
  function begins() {
    const found = STARTS.map(start).filter(Boolean);
    find("starts").replaceChildren(...found);
    find("starts").previousElementSibling.hidden = !found.length;
  }

  /** A link to a view, if there is anything to be seen in it. */
  function start([text, filters]) {
    if (filters.judge && run.judgePlace(filters.judge) < 0) return null;
    const n = run.select(filters).length;
    return n ? el("li", {}, el("a", { href: write({ run: run.name, ...filters }) }, text), ` (${n.toLocaleString("en")})`) : null;
  }

  function options(name, pairs) {
    const any = fields[name].options[0];
    fields[name].replaceChildren(any, ...pairs.map(([value, text]) => el("option", { value }, text)));
  }

  function filter() {
    for (const name of FILTERS) fields[name].value = state[name] || "";
    judge = state.judge ? run.judgePlace(state.judge) : -1;
    if (judge >= 0) fields.judge.value = run.judges[judge].id;
    const wanted = Object.fromEntries(FILTERS.map((name) => [name, fields[name].value]));
    const set = FILTERS.filter((name) => wanted[name]).length;
    find("all").textContent = set ? `More filters (${set} set)` : "More filters";
    find("columns").classList.toggle("none", judge >= 0);
    const key = JSON.stringify(wanted);
    if (key === listed) return;
    listed = key;
    const rows = run.select(wanted);
    list.show(rows);
    const verdicts = rows.reduce((sum, i) => sum + run.given(i, judge), 0);
    const [n, all, said] = [rows.length, run.size, verdicts].map((number) => number.toLocaleString("en"));
    const kind = run.episodes ? "episodes" : "trajectories";
    const told = run.episodes ? "" : `, ${said} verdicts`;
    find("count").textContent = rows.length ? `${n} of ${all} ${kind}${told}` : `None of ${all} ${kind} passes these filters.`;
  }

  // --- the opened trajectory

  function open(i, byKeyboard) {
    focus = byKeyboard || isNarrow();
    go({ t: run.ids[i], j: null }, true);
  }

  const isNarrow = () => getComputedStyle(panes).display !== "grid";

  async function showDetail(mine) {
    const content = find("content");
    const key = `${run.name} ${state.t}`;
    const i = state.t ? run.place(state.t) : -1;
    panes.classList.toggle("open", Boolean(state.t));
    list.mark(i);
    document.title = state.t ? `${state.t} — ${title}` : title;
    if (i < 0) {
      opened = "";
      const missing = state.t ? [el("p", { className: "explorer-none" }, `The run ${run.name} has no trajectory ${state.t}.`)] : [];
      return content.replaceChildren(...missing);
    }
    if (key !== opened) {
      const details = await run.details(i);
      if (mine !== turn) return;
      content.replaceChildren(...explorer.trajectory(run, i, details, { copy, address }));
      opened = key;
    }
    for (const [name, offset] of [["previous", -1], ["next", 1]]) {
      find(name).setAttribute("aria-disabled", String(list.beside(offset) < 0));
    }
    point(content);
  }

  /** Lead the eye, and the keyboard if it is to follow, to the verdict that the address names, or to the heading. */
  function point(content) {
    const place = state.j ? run.judgePlace(state.j) : -1;
    const cards = [...content.querySelectorAll(".explorer-verdict")];
    for (const card of cards) card.classList.toggle("chosen", Number(card.dataset.judge) === place);
    const chosen = content.querySelector(".explorer-verdict.chosen");
    if (chosen) {
      chosen.scrollIntoView();
      chosen.focus({ preventScroll: true });
    } else {
      if (detail.getBoundingClientRect().top < 0) detail.scrollIntoView();
      if (focus) content.querySelector("h2").focus();
    }
    focus = false;
  }

  function beside(offset) {
    const next = list.beside(offset);
    if (next >= 0) go({ t: run.ids[next], j: null }, true);
  }

  function close() {
    if (isNarrow()) go({ t: null, j: null }, true);
    list.box.focus({ focusVisible: true });
  }

  async function copy(judgeId) {
    const link = location.href.replace(/#.*$/, "") + address(run.place(state.t), judgeId);
    const done = await explorer.copy(link);
    find("toast").textContent = done ? "Link copied" : "The browser did not let the link be copied.";
    setTimeout(function () { find("toast").textContent = ""; }, 2000);
  }

  // --- what the reader does

  function listen() {
    let waiting = 0;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", function (event) {
      clearTimeout(waiting);
      const { name, value } = event.target;
      if (name === "run") go({ run: value, t: null, j: null, judge: null }, true);
      else waiting = setTimeout(() => go({ [name]: value }), name === "q" ? REST : 0);
    });
    form.addEventListener("reset", function (event) {
      event.preventDefault();
      go(Object.fromEntries(FILTERS.map((name) => [name, null])));
    });
    find("all").addEventListener("click", function (event) {
      event.target.setAttribute("aria-expanded", String(form.classList.toggle("all")));
    });
    find("previous").addEventListener("click", () => beside(-1));
    find("next").addEventListener("click", () => beside(1));
    find("close").addEventListener("click", close);
    find("link").addEventListener("click", () => copy(null));
    detail.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
    addEventListener("hashchange", () => apply().catch(report));
    addEventListener("beforeprint", () => { if (!state.t) print(true); });
    addEventListener("afterprint", () => print(false));
  }

  /** The whole list goes on paper, and what its marks mean. */
  function print(whole) {
    find("key").open = whole;
    list.draw(true, whole);
  }

  async function begin() {
    runs = await explorer.load("runs");
    fields.run.replaceChildren(...runs.map((one) => el("option", { value: one.name }, one.name.replace("/episodes", ": episodes"))));
    fields.run.closest("label").hidden = runs.length < 2;
    for (const [value, [text]] of Object.entries(explorer.QUESTIONS)) fields.said.append(el("option", { value }, text));
    document.body.removeAttribute("data-bs-spy"); // the theme's scroll spy would take our addresses for selectors
    box.hidden = false;
    listen();
    await apply();
    performance.mark("explorer-ready");
  }

  /** A file that is missing is said on the page; any other error stays an error. */
  function report(error) {
    if (!(error instanceof explorer.Missing)) throw error;
    box.hidden = false;
    notice(error.message);
  }

  begin().catch(report);
})(window.explorer);

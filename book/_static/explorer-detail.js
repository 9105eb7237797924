// An opened trajectory: the truth about it, its steps, and every judge's verdict with its reasons.
(function (explorer) {
  "use strict";

  const { el, long } = explorer;
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  /** The mark that goes with a judge in the charts. */
  explorer.mark = function (judge) {
    const mark = el("span", { className: `explorer-mark ${judge.shape}`, "aria-hidden": "true" });
    mark.style.setProperty("--judge", judge.colour);
    return mark;
  };

  /** What is true of a trajectory, in words. */
  explorer.truthText = function (truth) {
    const outcome = truth.correct ? "right" : "wrong";
    if (!truth.faulty) return truth.correct ? "clean" : `clean, outcome ${outcome}`;
    return `${truth.type ?? "outcome missed"}, ${truth.correct ? "silent" : "loud"}`;
  };

  /**
   * The elements of an opened trajectory.
   *
   * @param run the run it is of.
   * @param i its place there.
   * @param details its steps and verdicts, from the run's parts.
   * @param acts functions `copy(judge id or null)` and `address(trajectory, judge id or null)`.
   */
  explorer.trajectory = function (run, i, details, acts) {
    const truth = run.truth(i);
    const steps = details.steps.map((step, k) => stepItem(run, truth, details, step, k));
    const said = details.verdicts.map((one) => verdict(run, one, truth, acts));
    return [
      heading(run, i, truth, acts),
      el("p", { className: "explorer-goal", dir: "auto" }, details.goal),
      el(
        "div",
        { className: run.episodes ? "" : "explorer-sides" },
        el(
          "section",
          { "aria-label": "Steps and final answer" },
          el("h3", {}, "Steps"),
          el("ol", { className: "explorer-steps" }, steps),
          el("h3", {}, "Final answer"),
          details.answer ? long("p", "explorer-answer", details.answer) : el("p", { className: "explorer-none" }, "none"),
        ),
        run.episodes ? null : el("section", { "aria-label": "Verdicts" }, el("h3", {}, "Verdicts"), wordless(run), said.length ? said : none()),
      ),
    ];
  };

  const none = () => el("p", { className: "explorer-none" }, "No judge has judged this trajectory.");

  /** Where a run holds figures only: how the reasons are got. */
  function wordless(run) {
    const how = run.name === "paper" ? ["; ", el("code", {}, "python -m lib fetch paper"), " and ", el("code", {}, "make book"), " add them."] : ["."];
    return run.wordless ? el("p", { className: "explorer-wordless" }, "This run holds no reasons", ...how) : null;
  }

  function heading(run, i, truth, acts) {
    const first = run.episodes ? "The first broken rule" : "The fault";
    const step = truth.faulty && truth.step !== null ? ` ${first} is at step ${truth.step}.` : "";
    const outcome = truth.correct ? "The outcome is right." : "The outcome is wrong.";
    const tags = [[truth.type ?? (truth.faulty ? "outcome missed" : "clean"), truth.faulty ? "fault" : "clean"], [truth.stratum ?? "stratum not known", ""]];
    if (truth.faulty) tags.splice(1, 0, [truth.correct ? "silent" : "loud", ""]);
    return el(
      "header",
      {},
      el("h2", { tabIndex: -1 }, el("bdi", {}, run.ids[i])),
      el(
        "p",
        { className: "explorer-truth" },
        tags.flatMap(([text, kind]) => [el("span", { className: `explorer-tag ${kind}` }, text), " "]),
        `${outcome}${step} Run ${run.name}.`,
      ),
      siblings(run, i, acts),
    );
  }

  function siblings(run, i, acts) {
    const others = run.siblings(i);
    if (!others.length) return null;
    const links = others.map((other) => el("a", { href: acts.address(other) }, explorer.truthText(run.truth(other))));
    const listed = links.flatMap((link, k) => (k ? [" · ", link] : [link]));
    return el("p", { className: "explorer-siblings" }, "The same instance: ", ...listed);
  }

  function stepItem(run, truth, details, step, k) {
    const fault = truth.step === k;
    const here = run.episodes ? details.broken.filter(([at]) => at === k).map(([, message]) => message) : fault ? ["The fault is here"] : [];
    const naming = details.verdicts.filter((said) => said.step === k).map((said) => run.judges[said.judge]);
    return el(
      "li",
      { className: fault ? "fault" : "" },
      el("span", { className: "explorer-number" }, el("span", { className: "explorer-aside" }, "Step "), String(k)),
      el(
        "div",
        {},
        here.map((text) => el("p", { className: "explorer-here" }, text)),
        step.thought ? long("p", "explorer-thought", step.thought) : null,
        call(step),
        long("p", step.ok ? "explorer-seen" : "explorer-seen failed", step.observation),
        naming.length ? el("p", { className: "explorer-named" }, "Named by ", naming.flatMap(signed)) : null,
      ),
    );
  }

  function signed(judge, k) {
    return [k ? ", " : "", explorer.mark(judge), el("bdi", {}, judge.id)];
  }

  function call(step) {
    const made = long("p", "explorer-call", step.call.slice(step.tool.length));
    made.prepend(el("b", {}, step.tool));
    return made;
  }

  function verdict(run, said, truth, acts) {
    const judge = run.judges[said.judge];
    const copy = el("button", { type: "button", className: "explorer-copy" }, "Copy link");
    copy.setAttribute("aria-label", `Copy link to the verdict of ${judge.id}`);
    copy.addEventListener("click", () => acts.copy(judge.id));
    const made = el(
      "section",
      { className: "explorer-verdict", tabIndex: -1, "aria-label": `Verdict of ${judge.id}` },
      el("h4", {}, explorer.mark(judge), el("bdi", {}, judge.id)),
      copy,
      el("p", { className: "explorer-line" }, line(said), " ", checks(said, truth)),
      run.wordless ? null : reasons(said),
      cost(said),
      reading(said),
      members(said, truth),
    );
    made.dataset.judge = said.judge;
    return made;
  }

  /** A verdict's answer in the fewest words. */
  explorer.short = (said) => `${said.flagged ? "flagged" : "passed"} ${said.confidence.toFixed(2)}`;

  /** A judgement in a sentence, without what it is worth. */
  function line(said) {
    const where = said.step === undefined ? "" : ` at step ${said.step}`;
    const type = said.type ? `: ${said.type}` : "";
    const answer = said.flagged ? `faulty${where}${type}` : "clean";
    const reply = said.status ? `${said.status} reply, counts as ${answer}` : answer;
    return `${reply[0].toUpperCase()}${reply.slice(1)}, confidence ${said.confidence.toFixed(2)}.`;
  }

  /** What a judgement is worth: detection, then step and type of a fault that was caught. */
  function checks(said, truth) {
    if (!said.flagged) return check(!truth.faulty, truth.faulty ? "missed" : "right");
    if (!truth.faulty) return check(false, "false alarm");
    return [
      check(true, "detected"),
      " ",
      check(said.step === truth.step, said.step === truth.step ? "step" : `step is ${truth.step}`),
      " ",
      check(said.type === truth.type, said.type === truth.type ? "type" : `type is ${truth.type}`),
    ];
  }

  function check(right, text) {
    return el("span", { className: right ? "explorer-check right" : "explorer-check wrong" }, `${right ? "✓" : "✗"} ${text}`);
  }

  function reasons(said) {
    if (said.rationale) return long("blockquote", "explorer-rationale", said.rationale);
    return el("p", { className: "explorer-none" }, "No rationale.");
  }

  function cost(said) {
    const seconds = said.seconds >= 0.05 ? `${said.seconds.toFixed(1)} s` : "under 0.05 s";
    const tokens = said.prompt_tokens ? `${plural(said.prompt_tokens, "token")} read` : null;
    const written = said.completion_tokens ? `${plural(said.completion_tokens, "token")} written` : null;
    return el("p", { className: "explorer-cost" }, [seconds, tokens, written].filter(Boolean).join(" · "));
  }

  /** How a reply became a verdict, where it was not simply taken as it stood. */
  function reading(said) {
    const rows = [
      ["Changed in reading", (said.coercions || []).join("; ")],
      ["Step as written", said.raw_step],
      ["Error", said.error],
      ["Model stopped because", said.finish_reason],
      ["Reply as written", said.raw_reply],
    ].filter(([, text]) => text);
    if (!rows.length) return null;
    const parts = rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, long("div", "explorer-raw", text))]);
    return el("details", {}, el("summary", {}, "How the reply was read"), el("dl", {}, parts));
  }

  function members(said, truth) {
    if (!said.members) return null;
    const flags = said.members.filter((member) => member.flagged).length;
    const votes = said.members.map((member) =>
      el("li", {}, el("p", { className: "explorer-line" }, line(member), " ", checks(member, truth)), reasons(member), reading(member)),
    );
    const summary = `Votes: ${flags} of ${plural(said.members.length, "member")} flagged it`;
    return el("details", { className: "explorer-members" }, el("summary", {}, summary), el("ol", {}, votes));
  }
})(window.explorer);

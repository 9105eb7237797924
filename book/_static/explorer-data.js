// What the explorer reads: the runs, the scores of a run, and the parts that hold steps and rationales.
(function (explorer) {
  "use strict";

  const root = new URL("../explorer-data/", document.currentScript.src);
  const arrived = new Map();
  const loads = new Map();

  window.explorerData = function (key, content) { arrived.set(key, content); };

  /** A data file is not there. */
  explorer.Missing = class extends Error {};

  /** The content of a data file; a script, since a page opened from a file may not fetch anything else. */
  explorer.load = function (key, version) {
    if (arrived.has(key)) return Promise.resolve(arrived.get(key));
    if (!loads.has(key)) loads.set(key, request(key, version).finally(() => loads.delete(key)));
    return loads.get(key);
  };

  function request(key, version) {
    return new Promise(function (resolve, reject) {
      const script = explorer.el("script", { src: new URL(`${key}.js${version ? `?v=${version}` : ""}`, root).href });
      const lost = `The explorer's data is incomplete: explorer-data/${key}.js is missing. Build the book again.`;
      function end() {
        script.remove();
        if (arrived.has(key)) resolve(arrived.get(key));
        else reject(new explorer.Missing(lost));
      }
      script.addEventListener("load", end);
      script.addEventListener("error", end);
      document.head.append(script);
    });
  }

  /** Text as an address can hold it: a lone half of a surrogate pair becomes a replacement character. */
  const addressable = (text) => new URLSearchParams([["", text]]).get("");

  /** What can be asked of a verdict, given the truth; `said` is null where the judge gave none. */
  explorer.QUESTIONS = {
    flagged: ["flagged as faulty", (said) => said && said.flagged],
    passed: ["passed as clean", (said) => said && !said.flagged],
    right: ["right: fault or none", (said, truth) => said && said.flagged === truth.faulty],
    wrong: ["wrong: missed, or false alarm", (said, truth) => said && said.flagged !== truth.faulty],
    step: ["found at the right step", (said, truth) => caught(said, truth) && said.step === truth.step],
    misplaced: ["found at a wrong step", (said, truth) => caught(said, truth) && said.step !== truth.step],
    type: ["found, type right", (said, truth) => caught(said, truth) && said.type === truth.type],
    mistyped: ["found, type wrong", (said, truth) => caught(said, truth) && said.type !== truth.type],
    notok: ["not ok: could not be read", (said) => said && said.status !== "o"],
    none: ["no verdict", (said) => !said],
  };

  const caught = (said, truth) => said && said.flagged && truth.faulty;

  const AGREEMENTS = {
    right: (right, n) => n > 1 && right === n,
    wrong: (right, n) => n > 1 && right === 0,
    same: (right, n) => n > 1 && (right === n || right === 0),
    split: (right, n) => right > 0 && right < n,
  };

  /** The scores of one run; trajectories and judges go by their place in it. */
  explorer.Run = class {
    constructor(listed, index) {
      Object.assign(this, index);
      this.name = listed.name;
      this.version = listed.version;
      this.size = index.ids.length;
      this.places = new Map(index.ids.map((id, i) => [addressable(id), i]).reverse());
      const counting = index.judges.filter((judge) => !judge.baseline);
      this.counting = index.judges.map((judge) => !judge.baseline || !counting.length);
    }

    place(id) { return this.places.get(addressable(id)) ?? -1; }

    judgePlace(id) { return this.judges.findIndex((judge) => addressable(judge.id) === addressable(id)); }

    truth(i) {
      const type = this.type[i] < 0 ? null : this.types[this.type[i]];
      const stratum = this.strata[this.instance_strata[this.instance[i]]] ?? null;
      const correct = this.correct[i] === "1";
      return { faulty: this.faulty[i] === "1", type, step: known(this.step[i]), correct, stratum };
    }

    said(i, judge) {
      const column = this.verdicts[judge];
      if (column.said[i] === "-") return null;
      return {
        flagged: column.said[i] === "1",
        status: column.status[i],
        type: column.type[i] < 0 ? null : this.types[column.type[i]],
        step: known(column.step[i]),
        confidence: column.confidence[i],
      };
    }

    /** The verdicts on a trajectory that a question is about: those of one judge, or (-1) of all but the baselines. */
    asked(i, judge) {
      if (judge >= 0) return [this.said(i, judge)];
      return this.judges.map((_, each) => this.said(i, each)).filter((_, each) => this.counting[each]);
    }

    /** How many verdicts there are on a trajectory, of one judge or (-1) of all. */
    given(i, judge) {
      const columns = judge < 0 ? this.verdicts : [this.verdicts[judge]];
      return columns.filter((column) => column.said[i] !== "-").length;
    }

    /** Other trajectories of the same instance. */
    siblings(i) {
      const found = [];
      for (let other = 0; other < this.size; other++) {
        if (other !== i && this.instance[other] === this.instance[i]) found.push(other);
      }
      return found;
    }

    /** Places of the trajectories that pass every filter, in the order asked for; a search needs `loadTexts` before. */
    select(wanted) {
      const judge = wanted.judge ? this.judgePlace(wanted.judge) : -1;
      const terms = explorer.terms(wanted.q);
      const rows = [];
      for (let i = 0; i < this.size; i++) if (this.passes(i, wanted, judge, terms)) rows.push(i);
      return this.sorted(rows, wanted.sort, judge);
    }

    passes(i, wanted, judge, terms) {
      const truth = this.truth(i);
      if (wanted.fault && !ofFault(wanted.fault, truth)) return false;
      if (wanted.outcome && (wanted.outcome === "right") !== truth.correct) return false;
      if (wanted.stratum && wanted.stratum !== (truth.stratum ?? "other")) return false;
      if (wanted.agree && !AGREEMENTS[wanted.agree](...this.tally(i))) return false;
      if (!terms.every((term) => this.hit(i, term, judge))) return false;
      const question = wanted.said && explorer.QUESTIONS[wanted.said][1];
      if (question) return this.asked(i, judge).some((said) => question(said, truth));
      return judge < 0 || this.said(i, judge) !== null;
    }

    /** Of the judges that count for agreement: how many are right, and how many gave a verdict. */
    tally(i) {
      const faulty = this.faulty[i];
      const given = this.verdicts.filter((column, judge) => this.counting[judge] && column.said[i] !== "-");
      return [given.filter((column) => column.said[i] === faulty).length, given.length];
    }

    sorted(rows, order, judge) {
      const keys = { wrong: (i) => this.mistakes(i, judge).length, confident: (i) => Math.max(0, ...this.mistakes(i, judge)) };
      if (!keys[order]) return rows;
      const values = new Map(rows.map((i) => [i, keys[order](i)]));
      return rows.sort((one, other) => values.get(other) - values.get(one) || one - other);
    }

    /** Confidences of the wrong verdicts. */
    mistakes(i, judge) {
      const faulty = this.faulty[i] === "1";
      return this.asked(i, judge).filter((said) => said && said.flagged !== faulty).map((said) => said.confidence);
    }

    /** Where a term stands, as [where, text, position]: in id, goal, reply, or what one judge or (-1) any gave as reason. */
    hit(i, term, judge) {
      const { goal, answer, verdicts } = this.texts[i];
      const reasons = verdicts.filter((said) => judge < 0 || said.judge === judge).map((said) => [this.judges[said.judge].id, said.rationale ?? ""]);
      for (const [where, text] of [["id", this.ids[i]], ["goal", goal], ["reply", answer], ...reasons]) {
        const at = text.toLowerCase().indexOf(term);
        if (at >= 0) return [where, text, at];
      }
      return null;
    }

    part(number) { return explorer.load(`${this.name}/part-${String(number).padStart(3, "0")}`, this.version); }

    /** Have all texts at hand, in which to search. */
    async loadTexts() {
      this.texts ??= (await Promise.all(this.starts.map((_, number) => this.part(number)))).flat();
    }

    /** Steps, answer and verdicts in full, loaded with the part of the run that they are in. */
    async details(i) {
      let number = this.starts.length - 1;
      while (this.starts[number] > i) number--;
      return (await this.part(number))[i - this.starts[number]];
    }
  };

  /** What is searched for: words, and phrases in quotation marks. */
  explorer.terms = (text) => [...(text || "").toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)].map((found) => found[1] ?? found[2]);

  function known(number) { return number < 0 ? null : number; }

  function ofFault(wanted, truth) {
    if (wanted === "clean") return !truth.faulty;
    return truth.faulty && (wanted === "faulty" || wanted === truth.type);
  }
})(window.explorer);

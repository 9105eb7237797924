// The list: a listbox that holds only the rows in view, so that its length does not matter.
(function (explorer) {
  "use strict";

  const { el } = explorer;
  const MARGIN = 10; // rows kept beyond each edge of the view
  const ROW = 3.5; // height of a row, in the page's own size of type (rem)

  /**
   * Put into a row what is known of a trajectory, and what was said: by one judge, or (-1) a mark for each.
   *
   * @param terms what was searched for; where that stands is shown instead, unless it is in the id.
   */
  explorer.fillRow = function (row, run, i, judge, terms) {
    const truth = run.truth(i);
    const type = truth.type && !run.ids[i].includes(truth.type) ? truth.type : null;
    const about = [type, truth.faulty ? (truth.correct ? "silent" : "loud") : "clean", truth.stratum].filter(Boolean).join(" · ");
    const found = terms.map((term) => run.hit(i, term, judge)).find((hit) => hit && hit[0] !== "id");
    row.append(
      el("bdi", { className: "explorer-id" }, run.ids[i]),
      el("span", { className: "explorer-about" }, found ? excerpt(...found) : about),
      !run.judges.length ? "" : judge < 0 ? marks(run, i, truth) : oneMark(run.said(i, judge), truth),
    );
  };

  const excerpt = (where, text, at) => `${where}: ${at ? "…" : ""}${text.slice(at, at + 80)}`;

  function marks(run, i, truth) {
    const given = run.judges.map((_, judge) => run.said(i, judge));
    const right = given.filter((said) => worth(said, truth) === "right").length;
    const spoken = `, ${right} of ${given.filter(Boolean).length} judges right`;
    const drawn = given.map(function (said, judge) {
      const title = `${run.judges[judge].id}: ${said ? explorer.short(said) : "no verdict"}`;
      return el("span", { className: worth(said, truth), title }, sign(said, truth));
    });
    const [aside, shown] = [{ className: "explorer-aside" }, { "aria-hidden": "true" }];
    return el("span", { className: "explorer-marks" }, el("span", aside, spoken), el("span", shown, drawn));
  }

  function oneMark(said, truth) {
    const text = said ? `${sign(said, truth)} ${explorer.short(said)}` : "no verdict";
    return el("span", { className: "explorer-marks" }, el("span", { className: worth(said, truth) }, text));
  }

  const worth = (said, truth) => (!said ? "none" : said.flagged === truth.faulty ? "right" : "wrong");
  const sign = (said, truth) => (!said ? "·" : said.status !== "o" ? "!" : said.flagged === truth.faulty ? "✓" : "✗");

  explorer.List = class {
    /**
     * @param box the listbox element.
     * @param fill puts what a row shows into its element, given a trajectory.
     * @param open called with a trajectory and whether it was the keyboard.
     */
    constructor(box, fill, open) {
      Object.assign(this, { box, fill, open, rows: [], active: -1, opened: -1, drawn: "" });
      this.sheet = el("div", { className: "explorer-sheet", role: "presentation" });
      box.append(this.sheet);
      box.addEventListener("scroll", () => this.draw(), { passive: true });
      box.addEventListener("keydown", (event) => this.press(event));
      box.addEventListener("focus", () => { if (this.active < 0 && box.matches(":focus-visible")) this.move(this.first()); });
      this.sheet.addEventListener("click", (event) => this.click(event));
      new ResizeObserver(() => this.draw(true)).observe(box);
    }

    /** Show these trajectories from the top, or from the opened one if it is among them. */
    show(rows) {
      this.rows = rows;
      this.active = -1;
      this.box.hidden = !rows.length;
      this.box.scrollTop = 0;
      this.draw(true);
      this.mark(this.opened);
    }

    /** Mark a trajectory (-1: none) as the opened one and bring it into view. */
    mark(trajectory) {
      this.opened = trajectory;
      const position = this.rows.indexOf(trajectory);
      if (position >= 0) this.move(position, 0.2);
      else this.draw(true);
    }

    /** The trajectory this many rows from the opened one, or -1 where the list ends. */
    beside(offset) {
      const position = this.rows.indexOf(this.opened);
      return position < 0 ? -1 : this.rows[position + offset] ?? -1;
    }

    first() { return Math.max(0, this.rows.indexOf(this.opened)); }

    height() { return ROW * parseFloat(getComputedStyle(document.documentElement).fontSize); }

    /** Make a row the active one; where it is out of view it comes to the list's edge, or into its upper part. */
    move(position, aside = 0) {
      if (!this.rows.length) return;
      this.active = Math.min(Math.max(position, 0), this.rows.length - 1);
      const [height, seen] = [this.height(), this.box.clientHeight];
      const top = this.active * height;
      if (top < this.box.scrollTop) this.box.scrollTop = top - aside * seen;
      else if (top + height > this.box.scrollTop + seen) this.box.scrollTop = top + height - seen + aside * 3 * seen;
      this.draw(true);
    }

    press(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const page = Math.max(1, Math.floor(this.box.clientHeight / this.height()) - 1);
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (event.key in steps) this.move(this.active + steps[event.key]);
      else if ((event.key === "Enter" || event.key === " ") && this.active >= 0) this.open(this.rows[this.active], true);
      else return;
      event.preventDefault();
    }

    click(event) {
      const row = event.target.closest('[role="option"]');
      if (!row) return;
      this.active = Number(row.dataset.position);
      this.open(this.rows[this.active], false);
    }

    /** Put the rows in view into the page, unless they are there; for paper all of them. */
    draw(anew, all) {
      const height = this.height();
      const from = all ? 0 : Math.max(0, Math.floor(this.box.scrollTop / height) - MARGIN);
      const seen = Math.ceil(this.box.clientHeight / height) + 2 * MARGIN;
      const to = all ? this.rows.length : Math.min(this.rows.length, from + seen);
      const wanted = `${from}-${to}`;
      if (!anew && wanted === this.drawn) return;
      this.drawn = wanted;
      this.sheet.style.height = `${this.rows.length * height}px`;
      this.sheet.replaceChildren(...this.rows.slice(from, to).map((i, k) => this.row(i, from + k, height)));
      if (this.active >= from && this.active < to) this.box.setAttribute("aria-activedescendant", `explorer-row-${this.active}`);
      else this.box.removeAttribute("aria-activedescendant");
    }

    row(trajectory, position, height) {
      const row = el("div", {
        id: `explorer-row-${position}`,
        className: position === this.active ? "explorer-row active" : "explorer-row",
        role: "option",
        "aria-selected": String(trajectory === this.opened),
        "aria-posinset": String(position + 1),
        "aria-setsize": String(this.rows.length),
      });
      row.dataset.position = position;
      row.style.top = `${position * height}px`;
      row.style.height = `${height}px`;
      this.fill(row, trajectory);
      return row;
    }
  };
})(window.explorer);

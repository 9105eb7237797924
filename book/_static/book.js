// Charts are redrawn with tooltips in the page's colours; tables can be copied or saved. Works from files, offline.
(function () {
  "use strict";

  const INK = { light: ["#1a1a1a", "#dddddd"], dark: ["#e6e6e6", "#444b54"] };

  const NARROWEST = 120; // pixels of a plot that can still be read
  const PHONE = 560; // pixels of a column in which panels stand one below another
  const LETTER = 8.5; // pixels of a title's average letter, with room to spare
  const MENU = 40; // pixels beside a title that the menu takes

  function scheme() {
    return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  }

  function config(spec) {
    const [ink, line] = INK[scheme()];
    const text = { labelColor: ink, titleColor: ink };
    const sizes = { labelFontSize: 12, titleFontSize: 13 };
    const own = spec.config || {};
    return Object.assign({}, own, {
      background: "transparent",
      title: Object.assign({ fontSize: 15 }, own.title, { color: ink, subtitleColor: ink }),
      axis: Object.assign({}, sizes, own.axis, { gridColor: line, domainColor: line, tickColor: line }, text),
      header: Object.assign({}, sizes, own.header, text),
      legend: Object.assign({}, sizes, { symbolFillColor: ink }, own.legend, text),
      text: Object.assign({ fontSize: 12 }, own.text),
      view: Object.assign({}, own.view, { stroke: line }),
    });
  }

  async function embed(spec) {
    const drawn = document.createElement("div");
    const fresh = JSON.parse(JSON.stringify(spec)); // Vega leaves marks of its own in data that it has drawn
    await window.vegaEmbed(drawn, Object.assign(fresh, { background: "transparent", config: config(spec) }), {
      renderer: "svg",
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: document.title.split(" — ")[0],
    });
    return drawn;
  }

  function widthOf(drawn) {
    return Number(drawn.querySelector("svg").getAttribute("width"));
  }

  function wrapped(text, letters) {
    const lines = [];
    for (const word of text.split(" ")) {
      if (lines.length && lines.at(-1).length + word.length < letters) lines.push(`${lines.pop()} ${word}`);
      else lines.push(word);
    }
    return lines;
  }

  /** The spec for a column of this width: where that is narrow, panels and the entries of a legend in one column. */
  function shaped(spec, room) {
    const narrow = room < PHONE;
    const copy = JSON.parse(JSON.stringify(spec), (key, value) => (narrow && key === "columns" ? 1 : value));
    const plot = copy.spec || copy;
    if (plot.width === "container") plot.width = room / 2;
    if (narrow) copy.config = Object.assign({}, copy.config, { legend: Object.assign({}, copy.config?.legend, { columns: 1, orient: "bottom" }) });
    if (copy.title) {
      const title = copy.title.text ? copy.title : { text: copy.title };
      const text = wrapped([title.text].flat().join(" "), (room - MENU) / LETTER);
      copy.title = Object.assign({ anchor: "start" }, title, { frame: "bounds", text });
    }
    return [copy, plot];
  }

  // A chart fills its column while text keeps its size: its plots get what labels and legend leave.
  async function fitted(spec, room) {
    const [copy, plot] = shaped(spec, room);
    // what can be varied, in pixels: the width of a plot, or of each of its columns
    const [holder, name, least, growing] = plot.width?.step ? [plot.width, "step", 16, 16] : [plot, "width", NARROWEST, 1];
    let drawn = await embed(copy);
    let [growth, before] = [growing, null]; // pixels of a chart for one of what is varied
    for (let tries = 0; tries < 4 && typeof holder[name] === "number"; tries++) {
      const over = widthOf(drawn) - room;
      if (over <= 0 && over > -4) break;
      if (before) growth = Math.max(1, (widthOf(drawn) - before.drawn) / (holder[name] - before.size));
      before = { drawn: widthOf(drawn), size: holder[name] };
      holder[name] = Math.max(Math.floor(before.size - over / growth), least);
      if (holder[name] === before.size) break;
      drawn = await embed(copy);
    }
    return drawn;
  }

  async function draw(figure) {
    const spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const target = figure.querySelector(".vega-target");
    target.classList.add("vega-embed", "has-actions");
    const drawn = await fitted(spec, figure.clientWidth || document.querySelector(".bd-article").clientWidth); // 0 where it is folded
    for (const mark of drawn.querySelectorAll('[role="graphics-symbol"]:not([aria-label])')) {
      mark.removeAttribute("role"); // Vega names groups without marks too, and gives them no text
      mark.removeAttribute("aria-roledescription");
    }
    const menu = drawn.querySelector("summary");
    if (menu) menu.setAttribute("aria-label", "Save this chart");
    target.replaceChildren(...drawn.childNodes);
    target.setAttribute("role", "group");
    figure.dataset.ready = "1";
  }

  function loadVega() {
    const here = document.querySelector('script[src*="book.js"]').src;
    return new Promise(function (resolve, reject) {
      const script = document.createElement("script");
      script.src = here.replace(/book\.js.*$/, "vega-book.js");
      script.onload = resolve;
      script.onerror = function () { reject(new Error("vega-book.js is missing beside book.js")); };
      document.head.append(script);
    });
  }

  let drawing = Promise.resolve(); // one after the other: a page may change its width and its colours at once

  function drawAll(figures) {
    document.documentElement.dataset.charts = "due";
    drawing = drawing.then(async function () {
      for (const figure of figures) await draw(figure);
      document.documentElement.dataset.charts = "ready";
    });
  }

  async function startCharts() {
    const figures = [...document.querySelectorAll("figure.vega-chart")];
    if (!figures.length) return;
    await loadVega();
    drawAll(figures);
    let shown = scheme();
    new MutationObserver(function () {
      if (scheme() === shown) return;
      shown = scheme();
      drawAll(figures);
    }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    let [width, timer] = [innerWidth, null];
    addEventListener("resize", function () {
      clearTimeout(timer);
      if (innerWidth === width) return;
      document.documentElement.dataset.charts = "due";
      timer = setTimeout(function () {
        width = innerWidth;
        drawAll(figures);
      }, 200);
    });
  }

  function button(label, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", function () { action(made); });
    return made;
  }

  function tabbed(table) {
    const rows = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t"));
    return rows.join("\n");
  }

  async function copy(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea"); // pages opened from files have no clipboard object
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  function save(text, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  }

  function startTables() {
    document.querySelectorAll(".book-table").forEach(function (box) {
      const caption = box.querySelector("caption").textContent;
      const name = caption.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) + ".csv";
      const bar = document.createElement("div");
      bar.className = "book-table-actions";
      bar.append(
        button("Copy", async function (made) {
          await copy(tabbed(box.querySelector("table")));
          made.textContent = "Copied";
          setTimeout(function () { made.textContent = "Copy"; }, 1500);
        }),
        button("Download as CSV", function () { save(box.dataset.csv, name); }),
      );
      box.append(bar);
    });
  }

  function startScrolling() {
    // what is wider than the page scrolls on its own, with the keyboard too
    document.querySelectorAll(".book-table, .cell_output, pre, table.table, div.math").forEach(function (box) {
      if (box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== "visible") box.tabIndex = 0;
    });
  }

  /** One switch a page for all of its code, kept while the reader stays in this window. */
  function startCode() {
    const cells = document.querySelectorAll(".cell:not(.tag_show-code) > :is(.cell_input, details.above-input)");
    const heading = document.querySelector(".bd-article h1");
    if (!cells.length || !heading) return;
    for (const cell of cells) cell.open = true; // folded by its switch, no longer by itself
    const made = button("", () => set(!document.documentElement.classList.contains("show-code")));
    made.className = "book-code";
    function set(shown) {
      document.documentElement.classList.toggle("show-code", shown);
      made.textContent = shown ? "Hide code" : "Show code";
      made.setAttribute("aria-pressed", String(shown));
      sessionStorage.setItem("show-code", shown ? "1" : "");
      startScrolling();
    }
    heading.after(made);
    set(sessionStorage.getItem("show-code") === "1");
  }

  function printInLight() {
    let before = null;
    addEventListener("beforeprint", function () {
      before = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
    });
    addEventListener("afterprint", function () { document.documentElement.dataset.theme = before; });
  }

  startTables();
  startCode();
  startScrolling();
  document.addEventListener("toggle", startScrolling, true); // what was folded has no width until it is opened
  printInLight();
  startCharts();
})();

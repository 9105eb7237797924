// Each search result gets the words around what was looked for. They come from a script, since a page that is opened
// from a file may not fetch the pages that Sphinx would take them from.
(function () {
  "use strict";

  const [BEFORE, AFTER] = [80, 170]; // characters shown around the word

  const results = document.getElementById("search-results");
  if (!results || !window.bookTexts) return;
  const words = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((word) => word.length > 2);

  /** Where a word is in a text, and how much of it: all, or what its other forms share. */
  function found(text, word) {
    for (const part of [word, word.slice(0, Math.max(4, word.length - 3))]) {
      const at = text.toLowerCase().indexOf(part);
      if (at >= 0) return [at, at + part.length];
    }
    return null;
  }

  function excerpt(text) {
    const place = words.map((word) => found(text, word)).find(Boolean) || [0, 0]; // it may stand in a chart or a table
    const from = place[0] > BEFORE ? text.indexOf(" ", place[0] - BEFORE) + 1 : 0;
    const to = place[1] + AFTER < text.length ? text.lastIndexOf(" ", place[1] + AFTER) : text.length;
    const shown = document.createElement("p");
    const mark = document.createElement("mark");
    shown.className = "excerpt";
    mark.textContent = text.slice(...place);
    shown.append((from ? "… " : "") + text.slice(Math.min(from, place[0]), place[0]), mark, text.slice(place[1], Math.max(to, place[1])) + (to < text.length ? " …" : ""));
    return shown;
  }

  new MutationObserver(function () {
    for (const item of results.querySelectorAll("li:not([data-excerpt])")) {
      item.dataset.excerpt = "";
      const page = new URL(item.querySelector("a").href).pathname;
      const name = Object.keys(window.bookTexts).find((one) => page.endsWith(`/${one}.html`));
      if (name) item.append(excerpt(window.bookTexts[name]));
    }
  }).observe(results, { childList: true, subtree: true });
})();

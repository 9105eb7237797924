// Elements made of text only: nothing that a model or a run wrote is ever read as markup.
window.explorer = {};

(function (explorer) {
  "use strict";

  const SHOWN = 2000; // characters of a text that are shown at once
  const SPARE = 500; // a text that is longer by no more than this is shown whole

  // Control characters but tab and line ends, what turns the direction of writing, halves of surrogate pairs.
  const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

  /** The text with characters that act unseen written out, as in the book's chapters. */
  const visible = (text) => text.replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

  /** An element with properties and children; strings become text, null is left out. */
  explorer.el = function (tag, properties, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    const given = children.flat().filter((child) => child !== null && child !== undefined);
    made.append(...given.map((child) => (typeof child === "string" ? visible(child) : child)));
    return made;
  };

  /** Text in an element of its own; of a very long one the beginning, and a button for the rest. */
  explorer.long = function (tag, className, text) {
    const made = explorer.el(tag, { className, dir: "auto" });
    text = visible(text);
    if (text.length <= SHOWN + SPARE) {
      made.append(text);
      return made;
    }
    const all = `Show all ${text.length.toLocaleString("en")} characters`;
    const more = explorer.el("button", { type: "button", className: "explorer-more" }, all);
    more.addEventListener("click", function () {
      made.replaceChildren(text);
      made.tabIndex = -1;
      made.focus();
    });
    made.append(`${text.slice(0, SHOWN)}… `, more);
    return made;
  };

  /** Copy text; says whether the browser let it. */
  explorer.copy = async function (text) {
    if (navigator.clipboard && window.isSecureContext) {
      return navigator.clipboard.writeText(text).then(() => true, () => false);
    }
    const area = explorer.el("textarea", { value: text }); // a page opened from a file may have no clipboard object
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
})(window.explorer);

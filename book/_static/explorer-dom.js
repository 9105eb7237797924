// Elements made of text only: nothing that a model or a run wrote is ever read as markup.
window.explorer = {};

(function (explorer) {
  "use strict";

  const SHOWN = 2000; // characters of a text that are shown at once
  const SPARE = 500; // a text that is longer by no more than this is shown whole

  /** An element with properties and children; strings become text, null is left out. */
  explorer.el = function (tag, properties, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  };

  /** Text in an element of its own; of a very long one the beginning, and a button for the rest. */
  explorer.long = function (tag, className, text) {
    const made = explorer.el(tag, { className, dir: "auto" });
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

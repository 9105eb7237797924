// The testbed's page: choose a kind of request and a fault, see that case. Without this, one case of each fault shows.
(function () {
  "use strict";

  function choice(label, values, onChange) {
    const wrap = document.createElement("label");
    const select = document.createElement("select");
    for (const value of values) select.add(new Option(value, value));
    select.addEventListener("change", onChange);
    wrap.append(label + " ", select);
    return { wrap, select };
  }

  function start(box) {
    const cases = [...box.querySelectorAll(".testbed-case")];
    const values = (name) => [...new Set(cases.map((one) => one.dataset[name]))];
    const find = (fault, stratum) => cases.find((one) => one.dataset.fault === fault && one.dataset.stratum === stratum);

    const fault = choice("Fault", values("fault"), show);
    const stratum = choice("Kind of request", values("stratum"), show);
    const said = document.createElement("p");
    said.setAttribute("role", "status");
    const bar = document.createElement("div");
    bar.className = "testbed-controls";
    bar.append(fault.wrap, stratum.wrap, said);
    box.prepend(bar);

    function show() {
      for (const option of stratum.select.options) option.disabled = !find(fault.select.value, option.value);
      let chosen = find(fault.select.value, stratum.select.value);
      let note = "";
      if (!chosen) {
        note = "Does not fit " + stratum.select.value + ". ";
        chosen = cases.find((one) => one.dataset.fault === fault.select.value);
        stratum.select.value = chosen.dataset.stratum;
      }
      for (const one of cases) one.hidden = one !== chosen;
      const facts = [...chosen.querySelectorAll("dd")].map((one) => one.textContent);
      said.textContent = note + "Step " + facts[1] + " is the labelled one; the outcome " + facts[2] + ".";
    }

    show();
    box.dataset.ready = "1";
  }

  document.querySelectorAll(".testbed").forEach(start);
})();

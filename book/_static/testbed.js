// The testbed's page: choose a kind of request and a fault, see that case; the choice is in the page's address.
// Without this script, one case of each fault shows.
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

    const fault = choice("Fault", values("fault"), chosen);
    const stratum = choice("Kind of request", values("stratum"), chosen);
    const said = document.createElement("p");
    said.setAttribute("role", "status");
    const bar = document.createElement("div");
    bar.className = "testbed-controls";
    bar.append(fault.wrap, stratum.wrap, said);
    box.prepend(bar);

    /** Show the case that the two menus ask for; if a fault does not fit, with the first request that it fits. */
    function show() {
      for (const option of stratum.select.options) option.disabled = !find(fault.select.value, option.value);
      let case_ = find(fault.select.value, stratum.select.value);
      let note = "";
      if (!case_) {
        note = "Does not fit " + stratum.select.value + ". ";
        case_ = cases.find((one) => one.dataset.fault === fault.select.value);
        stratum.select.value = case_.dataset.stratum;
      }
      for (const one of cases) one.hidden = one !== case_;
      const facts = [...case_.querySelectorAll("dd")].map((one) => one.textContent);
      said.textContent = note + "Step " + facts[1] + " is the labelled one; the outcome " + facts[2] + ".";
    }

    function chosen() {
      show();
      history.replaceState(null, "", "#fault=" + fault.select.value + "&request=" + stratum.select.value);
    }

    /** Choose what the address says, as far as it is there to be chosen. */
    function read() {
      const address = new URLSearchParams(location.hash.slice(1));
      for (const [{ select }, name] of [[fault, "fault"], [stratum, "request"]]) {
        if ([...select.options].some((option) => option.value === address.get(name))) select.value = address.get(name);
      }
      show();
    }

    document.body.removeAttribute("data-bs-spy"); // the theme's scroll spy would take our addresses for selectors
    addEventListener("hashchange", read);
    read();
    if (location.hash.includes("fault=")) box.scrollIntoView();
    box.dataset.ready = "1";
  }

  document.querySelectorAll(".testbed").forEach(start);
})();

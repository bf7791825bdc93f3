// Comfort only; everything on the page can be read without it. Pointing at a claim, or reaching it by keyboard,
// marks the same claim everywhere and what shares its bytes, and says what it is below the picture.
(() => {
  "use strict";
  const of = (id) => document.querySelectorAll(`[data-claim="${CSS.escape(id)}"]`);
  let marked = [];
  const mark = (element) => {
    for (const e of marked) e.classList.remove("hot", "kin");
    marked = [];
    document.body.classList.toggle("marking", element !== null);
    if (element === null) return;
    const id = element.dataset.claim;
    for (const e of of(id)) {
      e.classList.add("hot");
      marked.push(e);
      for (const kin of (e.dataset.shares || "").split(" ").filter(Boolean))
        for (const k of of(kin)) {
          k.classList.add("kin");
          marked.push(k);
        }
    }
    const title = document.querySelector(`.memory [data-claim="${CSS.escape(id)}"] > title`);
    const readout = title?.closest("figure")?.querySelector(".readout");
    if (readout) readout.textContent = title.textContent;
  };
  const claim = (event) => event.target instanceof Element ? event.target.closest("a[data-claim]") : null;
  document.addEventListener("mouseover", (event) => mark(claim(event)));
  document.addEventListener("focusin", (event) => mark(claim(event)));
})();

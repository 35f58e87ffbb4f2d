/* What was opened below or above its button comes into view: an element whose `data-opened` is new. */
(() => {
  "use strict";
  const seen = new Map(); // panel → what it last had open

  const look = () => {
    for (const panel of document.querySelectorAll("[id^='panel-']")) {
      const opened = panel.querySelector("[data-opened]");
      const name = opened?.dataset.opened ?? null;
      if (seen.get(panel.id) === name) continue;
      seen.set(panel.id, name);
      if (opened) opened.scrollIntoView({ block: "start", behavior: "smooth" });
    }
  };

  // Gradio may run this before or after the document is complete.
  new MutationObserver(look).observe(document, {
    subtree: true, childList: true, attributes: true, attributeFilter: ["data-opened"],
  });
})();

/* Answers over the Audit page: they take the keyboard, Escape closes them, the place is kept. */
(() => {
  "use strict";
  const PANEL = "audit-behind";
  const closeButton = () => document.querySelector(`#panel-${PANEL} .close`);
  let opener = null; // what the keyboard comes back to
  let isOpen = false;

  document.addEventListener("click", (event) => {
    opener = event.target.closest?.(`[data-panel="${PANEL}"]`) ?? opener;
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) closeButton()?.click();
  });

  const look = () => {
    if (isOpen === (closeButton() !== null)) return;
    isOpen = !isOpen;
    // Looked for again when all is in place: Gradio may put it in twice.
    requestAnimationFrame(() => (closeButton() ?? opener)?.focus?.({ preventScroll: true }));
  };

  // Gradio may run this before or after the document is complete.
  new MutationObserver(look).observe(document, { subtree: true, childList: true });
})();

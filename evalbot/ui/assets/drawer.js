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
    const close = closeButton();
    if (isOpen === (close !== null)) return;
    isOpen = close !== null;
    (close ?? opener)?.focus?.({ preventScroll: true });
  };

  document.addEventListener("DOMContentLoaded", () => {
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
  });
})();

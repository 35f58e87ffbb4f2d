/* Reviewing by keys: one document listener, and actions that are sent until the server has them.

   An action carries a token of its own. It is sent again, with the same token, until the page
   that comes back names it; so a dropped connection loses no grade, and a second send adds none.
   What is not acknowledged yet lies in this tab's session storage and survives a reload. */
(() => {
  "use strict";
  const STORE = "evalbot-unsent";
  const PATIENCE_MS = 5000; // before an unanswered action is sent again
  const TYPING_PAUSE_MS = 500; // after which a draft is saved
  const FOLDS = "evalbot-folds";

  let unsent = load();
  let timer = null;
  let typing = null;
  let focusedId = null;
  let itemKey = null;

  function load() {
    try { return JSON.parse(sessionStorage.getItem(STORE)) ?? []; } catch { return []; }
  }
  function keepUnsent() {
    try { sessionStorage.setItem(STORE, JSON.stringify(unsent)); } catch { /* private mode */ }
  }
  const root = () => document.querySelector("#panel-review .review");
  const articles = () => [...document.querySelectorAll("#panel-review article.answer")];
  const focused = () => articles().find((one) => one.dataset.id === focusedId) ?? articles()[0];
  const token = () =>
    [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

  // ---- sending ------------------------------------------------------------------------------
  const contentOf = (article) => ({
    comment: article.querySelector("textarea")?.value ?? "",
    ticked: [...article.querySelectorAll(".checkpoints input:checked")].map((box) => box.value),
  });

  function send() {
    if (!unsent.length) { tell(null); return; }
    clearTimeout(timer);
    timer = setTimeout(late, PATIENCE_MS);
    if (!window.evalbot.act("review", unsent[0])) setTimeout(send, 200); // not built yet
  }

  async function late() {
    // No answer: signed out, or not reachable? Either way the action stays and is tried again.
    let status = 0;
    try { status = (await fetch("gradio_api/startup-events", { redirect: "manual" })).status; } catch { /* offline */ }
    tell(status === 401 || status === 403 ? "signedOut" : "offline");
    send();
  }

  function tell(what) {
    const line = root()?.querySelector(".saving");
    if (!line) return;
    line.hidden = what === null;
    line.textContent = what === null ? "" : line.dataset[what];
    line.classList.toggle("bad", what === "offline" || what === "signedOut");
  }

  function queue(action) {
    unsent.push({ ...action, token: token() });
    keepUnsent();
    if (unsent.length === 1) send();
  }

  // Called for every button of the page.
  function act(action) {
    if (action.do === "grade") {
      const article = articles().find((one) => one.dataset.id === action.id);
      if (!article || unsent.some((one) => one.id === action.id && one.do === "grade")) return;
      clearTimeout(typing);
      for (const button of article.querySelectorAll("button.verdict")) {
        const chosen = JSON.parse(button.dataset.act).verdict === action.verdict;
        button.setAttribute("aria-pressed", String(chosen));
      }
      article.dataset.graded = "1";
      queue({ ...action, ...contentOf(article) });
      const next = after(article);
      if (next) focus(next);
      return;
    }
    if (unsent.some((one) => one.do === action.do)) return; // held down, or pressed twice
    queue(action);
  }

  function after(article) {
    const all = articles();
    const place = all.indexOf(article);
    return [...all.slice(place + 1), ...all.slice(0, place)].find((one) => !one.dataset.graded);
  }

  // ---- what came back -----------------------------------------------------------------------
  function arrived() {
    const page = root();
    if (!page) return;
    const done = page.dataset.done;
    if (unsent.length && done === unsent[0].token) {
      clearTimeout(timer);
      unsent.shift();
      keepUnsent();
    }
    const item = page.querySelector(".item");
    const key = item?.dataset.item ?? null;
    const isNew = key !== itemKey;
    itemKey = key;
    restoreFolds();
    if (item) {
      const all = articles();
      const kept = all.find((one) => one.dataset.id === focusedId);
      const open = all.find((one) => !one.dataset.graded);
      if (isNew) { focus(open ?? all[0], true); window.scrollTo({ top: 0 }); }
      else focus(kept && (!kept.dataset.graded || !open) ? kept : open ?? all[0], true);
    } else focusedId = null;
    send();
  }

  function focus(article, quietly) {
    if (!article) return;
    focusedId = article.dataset.id;
    for (const one of articles()) one.classList.toggle("focused", one === article);
    if (!quietly || document.activeElement === document.body) article.focus({ preventScroll: true });
    if (!quietly) article.scrollIntoView({ block: "nearest" });
  }

  // ---- keys ---------------------------------------------------------------------------------
  const isTyping = (target) =>
    target instanceof Element &&
    (target.matches("textarea, select, input:not([type=checkbox])") || target.isContentEditable);

  document.addEventListener("keydown", (event) => {
    if (!root() || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") { event.target.blur(); focus(focused()); }
      return;
    }
    // Full-width keys of an input method mean the same.
    const key = event.key.length === 1 ? event.key.normalize("NFKC").toLowerCase() : event.key;
    if (key === "?") { event.preventDefault(); help(); return; }
    if (key === "Escape") { help(true); return; }
    if (event.repeat) return;
    if (press(key)) event.preventDefault();
  });

  function press(key) {
    const article = focused();
    if (!article) return false;
    if (key === "ArrowRight" || key === "ArrowLeft") return step(key === "ArrowRight");
    if (key === "c") {
      const note = article.querySelector("details.note");
      note.open = true;
      note.querySelector("textarea").focus();
      return true;
    }
    const box = article.querySelector(`.checkpoints input[data-key="${CSS.escape(key)}"]`);
    if (box) { box.click(); return true; }
    const button =
      article.querySelector(`button.verdict[data-key="${CSS.escape(key)}"]`) ??
      (isOwn(key) ? document.querySelector(`#panel-review .foot button[data-key="${key}"]`) : null);
    if (!button) return false;
    button.click();
    return true;
  }
  // Enter on a focused button is that button's own.
  const isOwn = (key) =>
    key === "u" || (key === "Enter" && !document.activeElement?.matches("button, summary, a"));

  function step(forward) {
    const all = articles();
    const next = all[all.indexOf(focused()) + (forward ? 1 : -1)];
    if (next) { focus(next); return true; }
    const button = document.querySelector(
      `#panel-review .foot button[data-act*='"${forward ? "forward" : "back"}"']`);
    button?.click();
    return true;
  }

  function help(close) {
    const list = root().querySelector(".keys");
    if (list) list.hidden = close || !list.hidden;
  }

  // ---- typing, folding, pointing ------------------------------------------------------------
  function typed(article) {
    clearTimeout(typing);
    const id = article.dataset.id;
    const content = contentOf(article);
    typing = setTimeout(() => window.evalbot.act("review", { do: "draft", id, ...content }), TYPING_PAUSE_MS);
  }
  const inAnswer = (target) => target.closest?.("#panel-review article.answer");
  document.addEventListener("input", (event) => {
    const article = inAnswer(event.target);
    if (article && event.target.matches("textarea, .checkpoints input")) typed(article);
  });
  document.addEventListener("focusin", (event) => {
    const article = inAnswer(event.target);
    if (article && article.dataset.id !== focusedId) focus(article, true);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#panel-review [data-help]")) { help(); return; }
    const article = inAnswer(event.target);
    if (article && article.dataset.id !== focusedId) focus(article, true);
  });

  function folds() {
    try { return JSON.parse(localStorage.getItem(FOLDS)) ?? {}; } catch { return {}; }
  }
  function restoreFolds() {
    const kept = folds();
    const isNarrow = window.matchMedia("(max-width: 800px)").matches;
    for (const one of document.querySelectorAll("#panel-review details[data-fold]")) {
      const name = one.dataset.fold;
      if (name in kept) one.open = kept[name];
      else if (isNarrow && name === "rubric") one.open = false;
    }
  }
  document.addEventListener("click", (event) => {
    const fold = event.target.closest?.("#panel-review details[data-fold] > summary")?.parentElement;
    if (!fold) return;
    const kept = { ...folds(), [fold.dataset.fold]: !fold.open };
    try { localStorage.setItem(FOLDS, JSON.stringify(kept)); } catch { /* private mode */ }
    if (fold.dataset.fold === "differences") setTimeout(restoreFolds);
  });

  window.addEventListener("online", send);
  window.evalbot.review = act;

  const watch = () => {
    const panel = document.getElementById("panel-review");
    if (!panel) { setTimeout(watch, 50); return; }
    new MutationObserver(arrived).observe(panel, { childList: true, subtree: true });
    arrived();
  };
  watch();
})();

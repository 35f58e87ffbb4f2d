/* Reviewing by keys: one document listener, and actions that are sent until the server has them.

   An action carries a token of its own. It is sent again, with the same token, until the page
   that comes back names it; so a dropped connection loses no grade, and a second send adds none.
   What is not acknowledged yet lies in this tab's session storage and survives a reload. */
(() => {
  "use strict";
  const STORE = "evalbot-unsent";
  const PATIENCE_MS = 3000; // before an unanswered action is sent again
  const TYPING_PAUSE_MS = 300; // after which a draft is saved
  const FOLDS = "evalbot-folds";

  let unsent = load();
  let timer = null;
  const typing = new Map(); // answer → when its draft is saved
  let deaf = null; // while somebody types on who has not seen yet that the page is another
  let focusedId = null;
  let itemKey = null;
  let seen = null; // the page that was looked at last
  const whole = new Set(); // answers of the item that were unfolded

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
    if (what === "signedOut") {
      const link = document.createElement("a");
      link.href = line.dataset.signIn;
      link.textContent = line.dataset.signInWords;
      line.append(" ", link);
    }
    line.classList.toggle("bad", what === "offline" || what === "signedOut");
  }

  function queue(action) {
    unsent.push({ ...action, whole: [...whole], token: token() });
    keepUnsent();
    if (unsent.length === 1) send();
  }

  // Called for every button of the page.
  function act(action) {
    if (action.do === "grade") {
      const article = articles().find((one) => one.dataset.id === action.id);
      if (!article) return;
      const graded = { ...action, ...contentOf(article) };
      if (isOnItsWay(graded)) return;
      forget(action.id);
      mark(action);
      queue(graded);
      const next = after(article);
      if (next) focus(next);
      return;
    }
    if (action.do === "whole") whole.add(action.id);
    // Held down, or pressed twice.
    if (unsent.some((one) => one.do === action.do && one.id === action.id)) return;
    if (action.do === "undo") {
      // What is on its way will be the last.
      const graded = unsent.filter((one) => one.do === "grade");
      if (graded.length) action = { ...action, last: graded.at(-1).id };
    }
    queue(action);
  }

  // Pressed twice; another grade is a change of mind, and the same one may come after an undo.
  function isOnItsWay(graded) {
    const last = unsent.findLast((one) => one.id === graded.id || one.do === "undo");
    const said = ({ id, verdict, comment, ticked }) => JSON.stringify([id, verdict, comment, ticked]);
    return last?.do === "grade" && said(last) === said(graded);
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
    // Gradio changes the page in place: a new one shows by what it says of itself.
    const itself = `${page.dataset.done} ${page.querySelector(".item")?.dataset.item ?? ""}`;
    if (itself === seen) return;
    const isFirst = seen === null;
    seen = itself;
    const isDone = unsent.length > 0 && page.dataset.done === unsent[0].token;
    if (isDone) {
      clearTimeout(timer);
      unsent.shift();
      keepUnsent();
    }
    // What is under way already looks as it will.
    for (const action of unsent) if (action.do === "grade") mark(action);
    const item = page.querySelector(".item");
    const key = item?.dataset.item ?? null;
    const isNew = key !== itemKey;
    itemKey = key;
    if (isNew) whole.clear();
    const typed = document.activeElement;
    if (isNew && !isFirst && isTyping(typed) && inAnswer(typed)) {
      // What is still being typed is about what was there: it is neither text nor keys for this.
      typed.blur();
      hearNothing();
    }
    restoreFolds();
    for (const one of articles()) {
      const note = one.querySelector("details.note");
      const changed = one.querySelector(".changed");
      changed.hidden = !changed.dataset.changed;
      note.open = note.querySelector("textarea").value !== "" || note.contains(document.activeElement);
    }
    if (item) {
      const all = articles();
      const kept = all.find((one) => one.dataset.id === focusedId);
      const open = all.find((one) => !one.dataset.graded);
      if (isNew) { focus(open ?? all[0], true); window.scrollTo({ top: 0 }); }
      else focus(kept && (!kept.dataset.graded || !open) ? kept : open ?? all[0], true);
    } else focusedId = null;
    if (isDone || isFirst) send();
  }

  function mark(action) {
    const article = articles().find((one) => one.dataset.id === action.id);
    if (!article) return;
    for (const button of article.querySelectorAll("button.verdict")) {
      const chosen = JSON.parse(button.dataset.act).verdict === action.verdict;
      button.setAttribute("aria-pressed", String(chosen));
    }
    article.dataset.graded = "1";
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

  function hearNothing() {
    clearTimeout(deaf);
    deaf = setTimeout(() => { deaf = null; }, TYPING_PAUSE_MS);
  }

  document.addEventListener("keydown", (event) => {
    if (deaf !== null && !isTyping(event.target)) { event.preventDefault(); hearNothing(); return; }
    if (!root() || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") { event.target.blur(); focus(focused()); }
      return;
    }
    // Who has just opened the comment means to write.
    if (event.target.closest?.("details.note")) return;
    // Full-width keys of an input method mean the same.
    const key = event.key.length === 1 ? event.key.normalize("NFKC").toLowerCase() : event.key;
    if (key === "?") { event.preventDefault(); help(); return; }
    if (key === "Escape") { help(true); return; }
    if (event.repeat) return;
    if (press(key)) event.preventDefault();
  });

  function press(key) {
    if (key === "ArrowRight" || key === "ArrowLeft") return step(key === "ArrowRight");
    const article = focused();
    if (article && key === "c") {
      const note = article.querySelector("details.note");
      note.open = true;
      note.querySelector("textarea").focus();
      return true;
    }
    const box = article?.querySelector(`.checkpoints input[data-key="${CSS.escape(key)}"]`);
    if (box) { box.click(); return true; }
    const button =
      article?.querySelector(`button.verdict[data-key="${CSS.escape(key)}"]`) ??
      (isOwn(key) ? document.querySelector(`#panel-review button[data-key="${key}"]`) : null);
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
    // Where all is done, back is to look at what was graded.
    const ways = forward ? ["forward"] : ["back", "look_back"];
    const found = ways.map((way) => `#panel-review button[data-act*='"do": "${way}"']`);
    document.querySelector(found.join())?.click();
    return true;
  }

  function help(close) {
    const list = root().querySelector(".keys");
    if (list) list.hidden = close || !list.hidden;
  }

  // ---- typing, folding, pointing ------------------------------------------------------------
  function typed(article) {
    const id = article.dataset.id;
    const content = contentOf(article);
    if (article.dataset.graded) article.querySelector(".changed").hidden = false;
    forget(id);
    // In a line of their own: an older draft that came late would take a newer one's place.
    const save = () => window.evalbot.inLine("review-draft", { do: "draft", id, ...content });
    typing.set(id, { save, timer: setTimeout(() => saved(id), TYPING_PAUSE_MS) });
  }
  function forget(id) {
    clearTimeout(typing.get(id)?.timer);
    typing.delete(id);
  }
  function saved(id) {
    const draft = typing.get(id);
    if (!draft) return;
    clearTimeout(draft.timer);
    typing.delete(id);
    draft.save();
  }
  const saveAll = () => { for (const id of [...typing.keys()]) saved(id); };
  document.addEventListener("visibilitychange", saveAll);
  window.addEventListener("pagehide", () => { saveAll(); window.evalbot.flush("review-draft"); });
  document.addEventListener("focusout", (event) => {
    const article = inAnswer(event.target);
    if (article) saved(article.dataset.id);
  });
  // A comment that is opened by the mouse is there to be written.
  document.addEventListener("click", (event) => {
    const note = event.target.closest?.("#panel-review details.note > summary")?.parentElement;
    if (!note || note.open) return;
    event.preventDefault();
    note.open = true;
    note.querySelector("textarea").focus();
  });
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
    // A button has done its own part, and may have moved on.
    const article = event.target.closest?.("button") ? null : inAnswer(event.target);
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
  });

  window.addEventListener("online", send);
  window.evalbot.review = act;

  const watch = () => {
    const panel = document.getElementById("panel-review");
    if (!panel) { setTimeout(watch, 50); return; }
    const changes = { childList: true, subtree: true, attributeFilter: ["data-done", "data-item"] };
    new MutationObserver(arrived).observe(panel, changes);
    arrived();
  };
  watch();
})();

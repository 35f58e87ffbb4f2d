/* Buttons and forms of the panels: each sends its action through the panel's hidden button. */
(() => {
  "use strict";
  const waiting = new Map(); // panel → what its hidden button is about to send, first to last
  const lines = new Map(); // panel → what waits for the answer to what was sent before it

  // The panel an element acts on: the one it is in, unless `data-panel` names another.
  const panelOf = (element) =>
    element.closest("[data-panel]")?.dataset.panel ??
    element.closest("[id^='panel-']")?.id.slice("panel-".length);

  const act = (panel, action) => {
    const button = document.getElementById(`act-${panel}`);
    if (!button) return false;
    if (!waiting.has(panel)) waiting.set(panel, []);
    waiting.get(panel).push(action);
    button.click();
    return true;
  };

  // Called by Gradio when the hidden button is pressed: what it sends to the server.
  const take = (panel) => waiting.get(panel)?.shift() ?? null;

  // One after another: two answers on their way at once may come in the wrong order, and the
  // older would stay on the page. Of a form that acts at every change, only the last is sent.
  const PATIENCE_MS = 10000;
  const inLine = (panel, action, isLive = false) => {
    const line = lines.get(panel) ?? { next: [], timer: null };
    lines.set(panel, line);
    if (isLive) line.next = line.next.filter((one) => !one.isLive);
    line.next.push({ action, isLive });
    if (line.timer === null) sendNext(panel);
  };
  const sendNext = (panel) => {
    const line = lines.get(panel);
    clearTimeout(line.timer);
    line.timer = null;
    const next = line.next.shift();
    if (next && act(panel, next.action)) line.timer = setTimeout(sendNext, PATIENCE_MS, panel);
  };

  // What waits is sent at once: the page is about to go.
  const flush = (panel) => {
    for (const { action } of lines.get(panel)?.next.splice(0) ?? []) act(panel, action);
  };

  // Called by Gradio when an answer is on the page, or nothing has come of what was sent.
  const answered = (panel) => { if (lines.has(panel)) sendNext(panel); };

  // A form with `data-once`, sent twice or again because nothing happened yet: once, as long as
  // its panel reads as it did.
  const sentLast = new Map(); // panel → what, over which page, and when
  const once = (panel, action) => {
    // Not the whole panel: Gradio shows there how long it is at work.
    const page = document.querySelector(`#panel-${panel} .html-container`)?.textContent;
    const what = JSON.stringify([action, page]);
    const last = sentLast.get(panel);
    if (last?.what === what && Date.now() - last.at < PATIENCE_MS) return;
    sentLast.set(panel, { what, at: Date.now() });
    inLine(panel, action);
  };

  const fieldsOf = (form) => {
    const fields = {};
    for (const [name, value] of new FormData(form)) {
      if (typeof value !== "string") continue;
      if (name in fields) fields[name] = [].concat(fields[name], value);
      else fields[name] = value;
    }
    return fields;
  };

  document.addEventListener("click", (event) => {
    event.target.closest?.(".notice")?.remove();
    const button = event.target.closest?.("button[data-act], a[data-act]");
    if (!button || button.disabled) return;
    event.preventDefault();
    const sure = button.dataset.sure;
    if (sure && !window.confirm(sure)) return;
    const panel = panelOf(button);
    const action = JSON.parse(button.dataset.act);
    if (panel === "review") window.evalbot.review(action);
    else inLine(panel, action);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target.closest?.("form[data-act]");
    if (!form) return;
    event.preventDefault();
    const sure = event.submitter?.dataset.sure ?? form.dataset.sure;
    if (sure && !window.confirm(sure)) return;
    const action = { ...JSON.parse(form.dataset.act), ...fieldsOf(form) };
    if (event.submitter?.name) action[event.submitter.name] = event.submitter.value;
    if (form.dataset.once === undefined) inLine(panelOf(form), action, "live" in form.dataset);
    else once(panelOf(form), action);
  });

  // A select or box that acts at once.
  document.addEventListener("change", (event) => {
    const form = event.target.closest?.("form[data-act][data-live]");
    if (form) form.requestSubmit();
  });

  // Gradio changes a panel in place, so what somebody typed stays in a field that has become
  // another one's. Where `data-fresh` changes, the fields within begin anew.
  const beginAnew = (element) => {
    for (const field of element.querySelectorAll("input, textarea, select")) {
      if (field.type === "checkbox" || field.type === "radio") field.checked = field.defaultChecked;
      else if (field.tagName === "SELECT") {
        const usual = [...field.options].findIndex((one) => one.defaultSelected);
        field.selectedIndex = Math.max(0, usual);
      } else field.value = field.defaultValue;
    }
  };
  new MutationObserver((changes) => {
    for (const element of new Set(changes.map((change) => change.target))) beginAnew(element);
  }).observe(document, { subtree: true, attributeFilter: ["data-fresh"] });

  window.evalbot = { act, inLine, flush, take, answered };
})();

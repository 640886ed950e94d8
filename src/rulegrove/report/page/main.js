// The page comes to life.

function showSummary() {
  byId("title").textContent = report.title;
  document.title = report.title;
  byId("made-by").textContent = `Made by ${report.made_by}. This file holds everything it shows and loads nothing.`;
}

function showFigures() {
  const shown = currentLine();
  const figures = shown.figures.map(([value, name]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  byId("figures").replaceChildren(...figures);
  byId("summary").replaceChildren(...[shown.about, ...report.summary].map((sentence) => element("p", {}, sentence)));
}

// What follows the slider: all but the chart of the front.
function showModel() {
  showLine();
  showFigures();
  showRules();
  showAttributes();
  showDependence();
  showCheck();
  showRow();
  relabelSoon();
}

let waiting = 0;
function relabelSoon() {
  if (report.rows === null) return;
  clearTimeout(waiting); // two hundred labels need not keep up with a moving slider
  waiting = setTimeout(labelRows, 150);
}

function showAll() {
  if (front !== null && front.panels.length) drawFront();
  showModel();
}

function startOutputs() {
  const choice = byId("output");
  byId("output-label").hidden = !severalScores();
  byId("output-label").firstChild.textContent = report.words.outputs + " ";
  choice.replaceChildren(...report.outputs.map((name, output) => element("option", { value: output }, name === null ? "" : name)));
  choice.value = state.output;
  choice.addEventListener("change", () => {
    state.output = Number(choice.value);
    tellRules();
    showModel();
    if (workbench.now !== null) showBench();
  });
}

function startRules() {
  makeAttributeChoice();
  tellRules();
  byId("rule-text").addEventListener("input", (event) => {
    state.text = event.target.value;
    showRules();
  });
  byId("rule-attribute").addEventListener("change", (event) => {
    state.attribute = Number(event.target.value);
    showRules();
  });
  byId("rules-all").addEventListener("click", () => {
    state.allRules = true;
    showRules();
  });
}

// Dark or light: as the system has it until the button is pressed; nothing is kept beyond this page.
function startTheme() {
  const button = byId("theme");
  let dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const tell = () => {
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(dark));
    button.setAttribute("aria-label", `Dark colours: ${dark ? "on" : "off"}`);
  };
  button.addEventListener("click", () => {
    dark = !dark;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    tell();
  });
  tell();
}

function startPrinting() {
  let before = false;
  window.addEventListener("beforeprint", () => {
    before = state.allRules;
    state.allRules = true;
    showRules();
  });
  window.addEventListener("afterprint", () => {
    state.allRules = before;
    showRules();
  });
}

function watchWidth() {
  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    showAll();
  }).observe(document.body);
}

function start() {
  showSummary();
  startTheme();
  startOutputs();
  startFront();
  startBench();
  startRules();
  startRows();
  showEvidence();
  showEdits();
  showVotes();
  showAll();
  startPrinting();
  watchWidth();
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
}

start();

// The page comes to life.

function showSummary() {
  byId("title").textContent = report.title;
  document.title = report.title;
  byId("made-by").textContent = `Made by ${report.made_by}. This file holds everything it shows and loads nothing.`;
  const figures = report.summary.figures.map(([value, name]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  byId("figures").replaceChildren(...figures);
  byId("summary").replaceChildren(...report.summary.sentences.map((sentence) => element("p", {}, sentence)));
}

// What follows the slider.
function showModel() {
  showPoint();
  showRules();
  showAttributes();
  showRow();
  relabelSoon();
}

let waiting = 0;
function relabelSoon() {
  if (report.rows === null) return;
  clearTimeout(waiting); // two hundred labels need not keep up with a moving slider
  waiting = setTimeout(labelRows, 150);
}

function showCharts() {
  drawPath();
  showDependence();
  showCheck();
}

function showOutput() {
  tellPath();
  listPath();
  showCharts();
  showModel();
}

function startOutputs() {
  const choice = byId("output");
  byId("output-label").hidden = tracks.length === 1;
  choice.replaceChildren(...report.outputs.map((name, output) => element("option", { value: output }, name === null ? "" : name)));
  choice.addEventListener("change", () => {
    state.output = Number(choice.value);
    showOutput();
  });
}

function startPath() {
  byId("point").addEventListener("input", (event) => goTo(Number(event.target.value)));
  byId("back").addEventListener("click", () => {
    goTo(currentTrack().chosen);
    byId("point").focus();
  });
}

function startRules() {
  makeHeads();
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
    showCharts();
  }).observe(document.body);
}

function start() {
  showSummary();
  startTheme();
  startOutputs();
  startPath();
  startRules();
  startRows();
  showVotes();
  showOutput();
  startPrinting();
  watchWidth();
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
}

start();

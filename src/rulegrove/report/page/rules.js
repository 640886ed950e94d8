// The table of rules, and the importance of attributes, of the model that is shown.

const FIRST_RULES = 25;
const RULE_LETTERS = 300; // of a rule; a button shows the rest
const CLASS_LETTERS = 60;

function ruleColumns() {
  const about =
    report.classes === null
      ? report.words.told === "" ? [] : [{ key: "mean", name: capitalised(report.words.told), tell: (entry) => show(entry.mean) }]
      : [
          { key: "confidence", name: "Confidence", tell: (entry) => percent(entry.confidence), beside: tellBase },
          { key: "probability", name: "Probability", tell: tellChange },
          { key: "speaks", name: "Speaks for", tell: (entry) => entry.speaks, words: true },
        ];
  return [
    { key: "rank", name: "#", title: "Rank", tell: (entry) => String(entry.rank) },
    { key: "text", name: "Rule", tell: (entry) => entry.text, words: true, wide: true },
    report.words.multiplies
      ? { key: "effect", name: capitalised(report.words.noun), tell: (entry) => times(entry.effect), beside: tellEnds, bar: true, diverging: true }
      : { key: "coefficient", name: "Coefficient", tell: (entry) => signed(entry.coefficient), bar: true, diverging: true },
    { key: "importance", name: "Importance", tell: (entry) => show(entry.importance, 3), bar: true },
    { key: "support", name: "Support", tell: (entry) => percent(entry.support) },
    ...about,
    ...(knowsReturns() ? [{ key: "returns", name: "Comes back", tell: (entry) => percent(entry.returns, 0), beside: tellThresholds }] : []),
  ];
}

// Whether it is known how often the terms of the length that is shown come back in lists from other rows.
function knowsReturns() {
  return currentOutput().returns !== null;
}

// The factor of a linear term is from its lower to its upper end.
function tellEnds(entry) {
  return terms.lines[entry.term] === undefined ? null : "end to end";
}

function tellThresholds(entry) {
  return report.recurrence.thresholds[entry.term] || null;
}

function tellBase(entry) {
  return entry.confidence === null || entry.base === null ? null : `base rate ${percent(entry.base)}`;
}

function tellChange(entry) {
  return entry.change === null ? percent(null) : entry.change.map((share) => percent(share)).join(" → ");
}

function tellRules() {
  const words = [
    report.words.multiplies
      ? `A rule multiplies the ${report.words.noun} by its factor where it holds; a linear term does so from its lower to its upper end. ` +
        "Importance is the size of the factor's logarithm times the standard deviation of the term."
      : `A rule adds its coefficient to ${report.classes === null ? scoreReference() : "the score"} where it holds; a linear term adds its coefficient per unit of the attribute. ` +
        "Importance is the size of the coefficient times the standard deviation of the term" +
        (currentOutput().importances === null ? "." : ", each number in its standard deviations and all of them together."),
  ];
  words.push(
    report.classes === null
      ? `Support is the share of the training rows on which the rule holds${report.words.told === "" ? "" : `; ${report.words.told} is what came true on them`}.`
      : "Support is the share of the training rows on which the rule holds, confidence the share of the class it speaks for among them" +
          (report.base_rates === null
            ? "."
            : "; the base rate is the share of that class among all rows. " +
              "Probability is how a rule alone changes it: from the base rate to the value where the rule holds; for a linear term, from its lower to its upper end."),
  );
  byId("rules-about").textContent = words.join(" ");
  if (report.recurrence !== null) byId("rules-returns").textContent = report.recurrence.words;
}

function makeHeads(columns) {
  const heads = columns.map((column) => {
    const button = element("button", { type: "button", "aria-label": column.title }, column.name);
    button.addEventListener("click", () => sortBy(column.key));
    return element("th", { scope: "col", role: "columnheader", "data-key": column.key, class: column.words ? "words" : null }, button);
  });
  byId("rule-heads").replaceChildren(...heads);
}

function sortBy(key) {
  const column = ruleColumns().find((one) => one.key === key);
  const firstDown = !column.words && key !== "rank";
  state.sort = { key, down: state.sort.key === key ? !state.sort.down : firstDown };
  showRules();
}

function compareBy(key, down) {
  return (one, other) => {
    const [a, b] = [one[key], other[key]];
    if (a === null || b === null) return (a === null) - (b === null); // what is not known comes last either way
    const order = typeof a === "string" ? a.localeCompare(b) : a - b;
    return down ? -order : order;
  };
}

// By importance where the column of the reader's choice is not there.
function currentSort(columns) {
  return columns.some((column) => column.key === state.sort.key) ? state.sort : { key: "importance", down: true };
}

function rulesWanted(entries, sort) {
  const words = state.text.trim().toLowerCase();
  const wanted = entries.filter(
    (entry) => entry.text.toLowerCase().includes(words) && (state.attribute < 0 || terms.features[entry.term].includes(state.attribute)),
  );
  return wanted.sort(compareBy(sort.key, sort.down));
}

function makeRow(entry, columns, largest) {
  const cells = columns.map((column) => {
    const text = column.wide ? makeLong(column.tell(entry)) : brief(column.tell(entry), CLASS_LETTERS);
    const own = column.bar ? bar(entry[column.key], largest[column.key], column.diverging) : null;
    const beside = column.beside ? column.beside(entry) : null;
    const about = { class: (column.words ? "words" : "number") + (column.wide ? " wide" : ""), role: "cell", "data-key": column.key, "data-name": column.name };
    return element("td", about, element("span", {}, text), own, beside === null ? null : element("small", {}, beside));
  });
  return element("tr", { role: "row" }, ...cells);
}

// A rule of many words is cut, with a button for the rest.
function makeLong(text) {
  const shown = clipped(text, RULE_LETTERS);
  if (shown === text) return text;
  const box = element("span", { title: text }, shown + " ");
  const more = element("button", { type: "button", class: "more control" }, "show all of it");
  more.addEventListener("click", () => box.replaceChildren(text));
  box.append(more);
  return box;
}

function showRules() {
  const entries = termsShown();
  const columns = ruleColumns();
  const sort = currentSort(columns);
  const wanted = rulesWanted(entries, sort);
  const largest = {};
  for (const key of ["coefficient", "effect", "importance"]) largest[key] = Math.max(...entries.map((entry) => Math.abs(entry[key])), 0);
  const shown = state.allRules ? wanted : wanted.slice(0, FIRST_RULES);
  byId("rule-rows").replaceChildren(...shown.map((entry) => makeRow(entry, columns, largest)));
  if (byId("rule-heads").children.length !== columns.length) makeHeads(columns);
  for (const head of byId("rule-heads").children) {
    const sorted = head.dataset.key === sort.key;
    head.setAttribute("aria-sort", sorted ? (sort.down ? "descending" : "ascending") : "none");
  }
  byId("rules-returns").hidden = !knowsReturns();
  const all = byId("rules-all");
  all.hidden = shown.length === wanted.length;
  all.textContent = `Show all ${grouped(wanted.length)}`;
  byId("rules-count").textContent = countRules(entries.length, wanted.length, shown.length);
}

function countRules(total, wanted, shown) {
  if (!total) return "No terms here: the score is the intercept alone.";
  const some = wanted === total ? plural(total, "term") : `${grouped(wanted)} of ${plural(total, "term")}`;
  return shown < wanted ? `${some}, the first ${grouped(shown)} shown.` : `${some}.`;
}

function makeAttributeChoice() {
  const used = [...new Set(terms.features.flat())].sort((one, other) => one - other);
  const options = used.map((feature) => element("option", { value: feature }, report.features[feature]));
  byId("rule-attribute").replaceChildren(element("option", { value: -1 }, "any"), ...options);
}

// Importance of attributes.

// The attributes that are used and their shares, the most important first.
function attributeShares(entries) {
  const sums = new Map();
  for (const entry of entries) {
    const own = terms.features[entry.term];
    for (const feature of own) sums.set(feature, (sums.get(feature) || 0) + entry.importance / own.length);
  }
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0);
  const shares = [...sums.entries()].map(([feature, value]) => [feature, total ? value / total : 0]);
  return shares.sort((one, other) => other[1] - one[1]);
}

function listAttributes(shares) {
  const bands = currentLine().importance_bands;
  if (bands === null) return shares.map(([feature, share]) => [report.features[feature], bar(share, shares[0][1]), percent(share)]);
  const own = bands[state.output];
  const largest = Math.max(...shares.map(([feature, share]) => Math.max(share, own[feature][1])));
  return shares.map(([feature, share]) => {
    const words = element("small", {}, `${(100 * own[feature][0]).toFixed(0)} to ${percent(own[feature][1], 0)}`);
    return [report.features[feature], barWithWhisker(share, own[feature], largest), element("span", {}, percent(share), words)];
  });
}

function showAttributes() {
  const found = attributeShares(termsShown());
  const whose = severalScores() ? ` for ${scoreReference()}` : "";
  const unused = report.features.length - found.length;
  const words =
    `The importance of each term${whose}, shared equally among its attributes.` +
    (unused ? ` ${plural(unused, "attribute")} ${unused === 1 ? "is" : "are"} in no term.` : "");
  const known = found.length > 0 && currentLine().importance_bands !== null;
  byId("attributes-about").replaceChildren(words, ...(known ? [legend("ends")] : []));
  byId("attribute-bars").replaceChildren(found.length ? table(["Attribute", "Importance", "Share"], listAttributes(found), { class: "bars" }) : element("p", {}, "No attribute is used."));
}

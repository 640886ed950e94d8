// The list that is changed: terms by their numbers, where they hold on coded rows, their words, and the steps to it.

const bench = report.workbench;

class Refusal extends Error {}

function unpack(texts) {
  return texts.map((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
}

const N_LINES = bench === null ? 0 : bench.lines.n;
const lineCodes = bench === null ? [] : unpack(bench.lines.codes);
const shownCodes = bench === null ? [] : unpack(bench.shown);

// Conditions. A number is coded by 0 where it is missing, else by 1 and how many cuts lie below it; `low` and `high` are
// places of cuts, null where a side is open. `never` is a condition that only missing values satisfy.

function readCondition(own) {
  const missing = own.missing === true;
  if (own.categories !== undefined) {
    const same = (column) => column.feature === own.feature && String(column.categories) === String(own.categories) && column.missing === missing;
    return { feature: own.feature, missing, categories: own.categories, columns: [bench.columns.findIndex((column) => column.categories !== undefined && same(column))] };
  }
  const column = bench.columns.findIndex((one) => one.feature === own.feature && one.cuts !== undefined);
  const find = (bound) => (bound === undefined ? null : bench.columns[column].cuts.indexOf(bound));
  const never = own.lower === "inf" || own.upper === "-inf";
  return { feature: own.feature, missing, column, never, low: never ? null : find(own.lower), high: never ? null : find(own.upper) };
}

function writeCondition(own) {
  const written = { feature: own.feature };
  if (own.categories !== undefined) written.categories = own.categories;
  else if (own.never) written.lower = "inf";
  else {
    const cuts = bench.columns[own.column].cuts;
    if (own.low !== null) written.lower = cuts[own.low];
    if (own.high !== null) written.upper = cuts[own.high];
  }
  if (own.missing) written.missing = true;
  return written;
}

function satisfies(own, codes, line) {
  if (own.categories !== undefined) return own.columns.some((column) => codes[column][line] === 1);
  const code = codes[own.column][line];
  if (code === 0) return own.missing;
  return !own.never && (own.low === null || code - 1 > own.low) && (own.high === null || code - 1 <= own.high);
}

function holdsOn(term, codes, line) {
  return term.conditions.every((own) => satisfies(own, codes, line)) ? 1 : 0;
}

// On which share of the rows of each line a term holds. Where the rules that it was made of decide as they did, it is as
// the rows were counted; elsewhere it goes by the codes, which are those in the middle of the rows of a line.
function holdOnLines(term) {
  return Float64Array.from({ length: N_LINES }, (_, line) => {
    const now = holdsOn(term, lineCodes, line);
    const before = term.origins.some((own) => holdsOn(own, lineCodes, line)) ? 1 : 0;
    return now === before ? Math.max(...term.origins.map((own) => own.held[line])) : now;
  });
}

// Words, as Python has them, which reads them back.

function tellCondition(own) {
  const column = bench.columns[own.categories === undefined ? own.column : own.columns[0]];
  if (own.never || (own.categories !== undefined && !own.categories.length)) return `${column.name} is missing`;
  const words = own.categories === undefined ? tellNumber(own, column) : tellChoice(own, column);
  return own.missing ? `${words} or missing` : words;
}

function tellChoice(own, column) {
  const { name, labels } = column;
  const say = (codes) => codes.map((code) => labels[code]).join(", ");
  const outside = labels.slice(0, column.n_categories).flatMap((_, code) => (own.categories.includes(code) ? [] : [code]));
  if (own.categories.length === 1) return `${name} = ${say(own.categories)}`;
  if (!outside.length) return `${name} is known`;
  const inside = `${name} in {${say(own.categories)}}`;
  const without = outside.length === 1 ? `${name} != ${say(outside)}` : `${name} not in {${say(outside)}}`;
  return Array.from(without).length < Array.from(inside).length ? without : inside;
}

function tellNumber(own, column) {
  const [low, high] = [own.low, own.high];
  if (column.boolean && column.name.trim()) {
    const includes = (value) => (low === null || column.cuts[low] < value) && (high === null || value <= column.cuts[high]);
    if (includes(1) !== includes(0)) return includes(1) ? column.name : `not ${column.name}`;
  }
  if (low !== null && high !== null) {
    if (high === low + 1 && column.points[high] !== undefined) return column.points[high];
    const [[atLeast, from], [lessThan, to]] = [column.words[low], column.words[high]];
    return `${from} ${atLeast ? "<=" : "<"} ${column.name} ${lessThan ? "<" : "<="} ${to}`;
  }
  if (low !== null) return `${column.name} ${column.words[low][0] ? ">=" : ">"} ${column.words[low][1]}`;
  if (high !== null) return `${column.name} ${column.words[high][0] ? "<" : "<="} ${column.words[high][1]}`;
  return `${column.name} is known`;
}

function tellConditions(conditions) {
  const parts = conditions.map(tellCondition);
  const several = parts.length > 1;
  return parts.map((part) => (several && part.endsWith(" or missing") ? `(${part})` : part)).join(" and ");
}

function tellTerm(term) {
  return term.place === null ? tellConditions(term.conditions) : terms.texts[term.place];
}

// Lists, which are not changed but made anew. A term that is no longer a fitted one has no place among these.

function readList() {
  let [lines, rules] = [0, 0];
  return bench.list.map((own) => {
    const known = { number: own.number, free: own.free, place: own.place, spread: own.spread };
    if (own.conditions === undefined) return { ...known, linear: own.linear, line: lines++, key: JSON.stringify(own.linear) };
    const conditions = own.conditions.map(readCondition);
    return { ...known, conditions, key: keyOf(conditions), origins: [{ conditions, held: bench.lines.held[rules++] }] };
  });
}

const fittedList = bench === null ? [] : readList();

function keyOf(conditions) {
  return JSON.stringify(conditions.map(writeCondition));
}

function findTerm(list, number) {
  const found = list.find((term) => term.number === number);
  if (found === undefined) throw new Refusal(`There is no term ${number} in the list any more.`);
  return found;
}

// A term with other conditions, as the fitted one where it has the same.
function withConditions(term, conditions, free = term.free) {
  const key = keyOf(conditions);
  const same = fittedList.find((own) => own.key === key);
  return { ...term, conditions, key, free, place: same === undefined ? null : same.place };
}

function loosen(one, other) {
  if (one.categories !== undefined) {
    const categories = [...new Set([...one.categories, ...other.categories])].sort((a, b) => a - b);
    return { ...one, categories, columns: [...new Set([...one.columns, ...other.columns])], missing: one.missing || other.missing };
  }
  const missing = one.missing || other.missing;
  if (one.never || other.never) return { ...(one.never ? other : one), missing };
  const least = (a, b) => (a === null || b === null ? null : Math.min(a, b));
  const most = (a, b) => (a === null || b === null ? null : Math.max(a, b));
  return { ...one, low: least(one.low, other.low), high: most(one.high, other.high), missing };
}

function leavesNothingOut(own) {
  if (own.categories !== undefined) return own.categories.length >= bench.columns[own.columns[0]].n_categories;
  return !own.never && own.low === null && own.high === null;
}

function mergeConditions(one, other) {
  const pairs = one.conditions.flatMap((own) => other.conditions.filter((another) => another.feature === own.feature).map((another) => loosen(own, another)));
  const kept = pairs.filter((own) => !leavesNothingOut(own));
  if (!kept.length) throw new Refusal(`Rules ${one.number} and ${other.number} have no bound in common, so a rule that covers both would hold on every row.`);
  return kept;
}

const STEPS = {
  drop: (list, step) => list.filter((term) => term !== findTerm(list, step.number)),
  replace: (list, step) => {
    const old = findTerm(list, step.number);
    return list.map((term) => (term === old ? withConditions(old, step.conditions) : term));
  },
  merge: (list, step) => {
    const [one, other] = [findTerm(list, step.first), findTerm(list, step.second)];
    const free = one.free.map((own, output) => own || other.free[output]);
    const merged = { ...withConditions(one, mergeConditions(one, other), free), origins: [...one.origins, ...other.origins] };
    return list.filter((term) => term !== other).map((term) => (term === one ? merged : term));
  },
};

function takeStep(list, step) {
  const changed = STEPS[step.operation](list, step);
  checkList(changed);
  return changed;
}

function checkList(list) {
  const seen = new Map();
  for (const term of list) {
    if (seen.has(term.key)) throw new Refusal(`${seen.get(term.key)} and ${term.number} would be the same rule, ${tellTerm(term)}. Switch one of them off first.`);
    seen.set(term.key, term.number);
    if (term.conditions === undefined) continue;
    const held = columnOf(term);
    const first = held[0];
    if (held.every((value) => value === first)) throw new Refusal(`“${tellTerm(term)}” holds on ${first ? "every row" : "no row"} that was counted, so no weight can be learned for it.`);
  }
}

function followSteps(steps) {
  return steps.reduce(takeStep, fittedList);
}

// A step in words, from the list before it.
function tellStep(list, step) {
  if (step.operation === "drop") return `Dropped ${step.number}: ${tellTerm(findTerm(list, step.number))}`;
  if (step.operation === "replace") return `Replaced ${step.number}, ${tellTerm(findTerm(list, step.number))}, by ${tellConditions(step.conditions)}`;
  const merged = findTerm(takeStep(list, step), step.first);
  return `Merged ${step.first} and ${step.second} into ${step.first}: ${tellTerm(merged)}`;
}

// A step as a script has it.
function writeStep(step) {
  const { operation } = step;
  const about = { note: step.note, author: step.author };
  if (operation === "drop") return { operation, number: step.number, ...about };
  if (operation === "merge") return { operation, first: step.first, second: step.second, ...about };
  return { operation, number: step.number, rule: tellConditions(step.conditions), ...about };
}

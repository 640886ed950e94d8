// What rows lose by their scores, in sums that stand for all rows of a line: as rulegrove.editing.families has it.

const MOVED = 0.1; // of a standard deviation, or of a rate: a row is then predicted otherwise

function softplus(score) {
  return score > 0 ? score + Math.log1p(Math.exp(-score)) : Math.log1p(Math.exp(score));
}

function expit(score) {
  return 1 / (1 + Math.exp(-score));
}

function softmax(scores) {
  const most = Math.max(...scores);
  const sizes = scores.map((score) => Math.exp(score - most));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map((size) => size / total);
}

// Tweedie's loss of a rate whose logarithm is the score: a part that all rows have, and one that their targets multiply.
const POWER = bench === null || bench.power === null ? 1 : bench.power;
const [UP, DOWN] = [2 - POWER, POWER - 1];

function riseOf(score) {
  return UP === 0 ? score : Math.exp(UP * score) / UP;
}

function fallOf(score) {
  return DOWN === 0 ? -score : Math.exp(-DOWN * score) / DOWN;
}

function both(own) {
  return { loss: own, error: own };
}

// What a loss is: of a line by its scores and mean targets, with its derivatives; `tell` has the loss and the error of
// a row by what is summed of it, `choose` what is predicted, and `differ` says when that is something else.
const FAMILIES = {
  two: {
    goals: (sums, weight) => [sums[1] / weight],
    weigh: (sums) => sums[0] + sums[1],
    lose: ([score], [goal]) => softplus(score) - goal * score,
    slope: ([score], [goal]) => [expit(score) - goal],
    bend: ([score]) => [[expit(score) * expit(-score)]],
    choose: ([score]) => (score > 0 ? 1 : 0),
    tell: ([score]) => ({ loss: [softplus(score), softplus(-score)], error: [score > 0 ? 1 : 0, score > 0 ? 0 : 1] }),
    share: ([score]) => [expit(-score), expit(score)],
  },
  several: {
    goals: (sums, weight) => sums.map((own) => own / weight),
    weigh: (sums) => sums.reduce((sum, own) => sum + own, 0),
    lose: (scores, goals) => logSum(scores) - goals.reduce((sum, goal, k) => sum + goal * scores[k], 0),
    slope: (scores, goals) => softmax(scores).map((share, k) => share - goals[k]),
    bend: (scores) => {
      const shares = softmax(scores);
      return shares.map((one, k) => shares.map((other, l) => one * ((k === l ? 1 : 0) - other)));
    },
    choose: (scores) => scores.indexOf(Math.max(...scores)),
    tell: (scores) => {
      const said = scores.indexOf(Math.max(...scores));
      const total = logSum(scores);
      return { loss: scores.map((score) => total - score), error: scores.map((_, k) => (k === said ? 0 : 1)) };
    },
    share: softmax,
  },
  number: {
    goals: (sums, weight) => [sums[2] / weight],
    weigh: (sums) => sums[1],
    lose: ([score], [goal]) => 0.5 * (score - goal) ** 2,
    slope: ([score], [goal]) => [score - goal],
    bend: () => [[1]],
    tell: ([score]) => both([1, score ** 2, -2 * score]),
    differ: ([one], [other]) => Math.abs(one - other) > MOVED,
  },
  rate: {
    goals: (sums, weight) => [sums[2] / weight],
    weigh: (sums) => sums[1],
    lose: ([score], [goal]) => riseOf(score) + goal * fallOf(score),
    slope: ([score], [goal]) => [Math.exp(UP * score) - goal * Math.exp(-DOWN * score)],
    bend: ([score], [goal]) => [[UP * Math.exp(UP * score) + DOWN * goal * Math.exp(-DOWN * score)]],
    tell: ([score]) => both([0, 2 * riseOf(score), 2 * fallOf(score)]),
    differ: ([one], [other]) => Math.abs(Math.expm1(other - one)) > MOVED,
  },
};

function logSum(scores) {
  const most = Math.max(...scores);
  return most + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - most), 0));
}

const family = bench === null ? null : FAMILIES[bench.family];

// Weights in the units of the user: numbers are solved for in standard deviations from their mean, rates by their mean.
const UNIT = bench !== null && bench.family === "number" ? bench.scale : 1;
const ORIGIN = bench === null ? 0 : bench.family === "rate" ? Math.log(bench.scale) : bench.center;

function giveBack(coefs) {
  return coefs.map((own) => own.map((value, k) => UNIT * value + (k === 0 ? ORIGIN : 0)));
}

function takeOver(coefs) {
  return coefs.map((own) => own.map((value, k) => (value - (k === 0 ? ORIGIN : 0)) / UNIT));
}

// How well lists do: error and loss, or once where they are the same.
const MEASURES = bench === null ? [] : [["error", bench.error_name], ["loss", bench.loss_name]].slice(bench.error_name === bench.loss_name ? 1 : 0);

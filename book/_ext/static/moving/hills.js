/* Two hills on a line, exact at any setting, and the methods of the lessons on them. The left hill
   holds e^-8 of what the right one holds, and log Z is 20 wherever they stand. No library. */
"use strict";

const Hills = (() => {
  const LOGZ = 20, GAP = 8, SIGMA = 0.95, WIDTH = 0.5, MOVE = 0.7;
  const HALF = 0.5 * Math.log(2 * Math.PI);

  /* mulberry32: the same seed gives the same figure */
  function random(seed) {
    let a = seed >>> 0;
    const uniform = () => {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    const normal = () =>
      Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    return { uniform, normal };
  }
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  function logMeanExp(values) {
    let top = -Infinity;
    for (const x of values) top = Math.max(top, x);
    return top + Math.log(mean(values.map((x) => Math.exp(x - top))));
  }

  const gauss = (x, m, s) => -HALF - Math.log(s) - 0.5 * ((x - m) / s) ** 2;
  const both = (a, b) => (a > b ? a + Math.log1p(Math.exp(b - a)) : b + Math.log1p(Math.exp(a - b)));
  const grid = Array.from({ length: 561 }, (_, i) => -7 + i / 40);
  const total = (logs) => logMeanExp(logs) + Math.log(logs.length / 40);

  /* A model: hills at -apart and apart, a base around a place, and the path between the two. */
  function model(base = -2, apart = 2, gap = GAP) {
    const left = -Math.log1p(Math.exp(gap)), right = Math.log1p(-Math.exp(left));
    const target = (x) => LOGZ + both(left + gauss(x, -apart, WIDTH), right + gauss(x, apart, WIDTH));
    const start = (x) => gauss(x, base, SIGMA);
    const at = (x, beta) => (1 - beta) * start(x) + beta * target(x);
    const slope = (x) => target(x) - start(x);
    const logZ = (beta) => total(grid.map((x) => at(x, beta)));
    const draw = (rng) => (rng.uniform() < Math.exp(left) ? -apart : apart) + WIDTH * rng.normal();
    /* mean and standard deviation of the slope at one place of the path, by adding up */
    function slopes(beta) {
      const logs = grid.map((x) => at(x, beta)), z = total(logs);
      let m = 0, s = 0;
      grid.forEach((x, i) => {
        const p = Math.exp(logs[i] - z) / 40;
        m += p * slope(x);
        s += p * slope(x) ** 2;
      });
      return { mean: m, sd: Math.sqrt(Math.max(0, s - m * m)) };
    }
    return { base, apart, target, start, at, slope, logZ, draw, slopes };
  }

  function move(m, x, beta, rng, width = MOVE) {
    const y = x + width * rng.normal();
    return Math.log(1 - rng.uniform()) < m.at(y, beta) - m.at(x, beta) ? y : x;
  }

  /* Annealed importance sampling: where each chain ends, and its log-weight. With rungs, `means`
     takes the logarithm of the mean weight at each of them. */
  function ais(m, steps, n, rng, rungs = 0, means = []) {
    const chains = [], onWay = Array.from({ length: rungs + 1 }, () => [0]);
    for (let i = 0; i < n; i++) {
      let x = m.base + SIGMA * rng.normal(), w = 0;
      for (let k = 1; k <= steps; k++) {
        w += m.slope(x) / steps;
        x = move(m, x, k / steps, rng);
        const rung = (k * rungs) / steps;
        if (rungs && Number.isInteger(rung)) onWay[rung].push(w);
      }
      chains.push({ x, w });
    }
    if (rungs) onWay.forEach((ws, k) => { means[k] = k ? logMeanExp(ws.slice(1)) : 0; });
    return chains.sort((a, b) => a.w - b.w);
  }

  /* The way back, from states of the model (or what is taken for them): too high on average. */
  function reverse(m, steps, starts, rng) {
    const chains = starts.map((start) => {
      let x = start, w = 0;
      for (let k = steps; k >= 1; k--) {
        x = move(m, x, k / steps, rng);
        w += m.slope(x) / steps;
      }
      return { x: start, w };
    });
    return chains.sort((a, b) => a.w - b.w);
  }

  /* Chains that wander over a ladder of rungs, each state read by its probabilities of all rungs.
     learn(t): by how much a visit raises a guess, 0 for guesses that stay. `seen(x, k, guess)` is
     called after each sweep. The guesses are those of log Z, 0 at the base. */
  function temper(m, { rungs, sweeps, starts, guess, learn = () => 0, seen = () => {} }, rng) {
    const betas = Array.from({ length: rungs + 1 }, (_, k) => k / rungs);
    const burn = Math.floor(sweeps / 2);
    return starts.map(([begin, rung]) => {
      const z = guess.slice(), mean = betas.map(() => 0);
      let x = begin, k = rung, last = -1, ends = 0;
      for (let t = 1; t <= sweeps; t++) {
        x = move(m, x, betas[k], rng);
        const d = m.slope(x), logits = betas.map((b, j) => b * d - z[j]);
        const norm = logMeanExp(logits) + Math.log(rungs + 1);
        const q = logits.map((l) => Math.exp(l - norm));
        let u = rng.uniform();
        k = 0;
        while (k < rungs && (u -= q[k]) > 0) k += 1;
        if ((k === 0 || k === rungs) && k !== last) { ends += last >= 0 ? 1 : 0; last = k; }
        const gain = learn(t);
        if (gain) {
          for (let j = 0; j <= rungs; j++) z[j] += Math.min(1, (rungs + 1) * gain) * q[j];
          for (let j = rungs; j >= 0; j--) z[j] -= z[0];
        }
        if (t > burn) q.forEach((p, j) => (mean[j] += p / (sweeps - burn)));
        seen(x, k, z);
      }
      return { guess: z, mean, trips: ends / 2, logZ: z[rungs] + Math.log(mean[rungs] / mean[0]) };
    });
  }

  /* of SAMS: large steps until all rungs were reached, then 1/t */
  const gains = (flood) => (t) => (t <= flood ? t ** -0.6 : 1 / (t - flood + flood ** 0.6));

  /* the mean weight, its error, how many chains carry it, and the largest group within half a nat */
  function summary(chains) {
    const w = chains.map((c) => c.w), n = w.length;
    let best = 0, middle = 0;
    for (let i = 0, j = 0; i < n; i++) {
      while (w[i] - w[j] > 0.5) j++;
      if (i - j + 1 > best) { best = i - j + 1; middle = (w[i] + w[j]) / 2; }
    }
    const logZ = logMeanExp(w), ess = n / mean(w.map((x) => Math.exp(2 * (x - logZ))));
    const error = Math.sqrt((n / ess - 1) / n);
    return { agree: best, at: middle, logZ, ess, error, low: LOGZ - middle };
  }

  /* A sum that no chain has a say in: climb from many places, add up what lies around each top. */
  function foundBySearch(m) {
    const tops = new Set();
    for (let start = -6; start <= 6; start += 0.5) {
      let x = start;
      for (let step = 0.4; step > 0.01; ) {
        const up = m.target(x + step), down = m.target(x - step), here = m.target(x);
        if (up > here) x += step;
        else if (down > here) x -= step;
        else step /= 2;
      }
      tops.add(Math.round(x * 4) / 4);
    }
    const near = grid.filter((x) => [...tops].some((top) => Math.abs(x - top) < 1.25));
    return { hills: tops.size, logZ: total(near.map(m.target)) };
  }

  return { model, move, ais, reverse, temper, gains, summary, foundBySearch, gauss, grid,
    random, mean, logMeanExp, LOGZ, SIGMA, WIDTH };
})();

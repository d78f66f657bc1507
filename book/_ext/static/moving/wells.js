/* Particles annealed from a Gaussian to a double well, with their weights. And the double well
   itself, which the figure of tempering uses too. */
"use strict";

Moving.well = (() => {
  /* log-densities that are normalised, so that the true log Z is 0 */
  const gauss = (x, m, s) => -0.5 * ((x - m) / s) ** 2 - Math.log(s) - 0.5 * Math.log(2 * Math.PI);
  const target = (x) => {
    const a = Math.log(0.3) + gauss(x, -2.2, 0.45), b = Math.log(0.7) + gauss(x, 2.2, 0.45);
    const top = Math.max(a, b);
    return top + Math.log(Math.exp(a - top) + Math.exp(b - top));
  };
  const grid = Array.from({ length: 401 }, (_, i) => -10 + i / 20);
  /* log p*_beta and its log Z by adding up over the grid */
  const path = (base) => {
    const at = (x, beta) => (1 - beta) * base(x) + beta * target(x);
    const logZ = (beta) =>
      Moving.logMeanExp(grid.map((x) => at(x, beta))) + Math.log(grid.length / 20);
    return { at, logZ };
  };
  const metropolis = (x, logP, rng, width, n) => {
    let here = logP(x);
    for (let i = 0; i < n; i++) {
      const y = x + width * rng.normal(), there = logP(y);
      if (Math.log(1 - rng.uniform()) < there - here) { x = y; here = there; }
    }
    return x;
  };
  const shown = grid.filter((x) => Math.abs(x) <= 6);
  return { gauss, target, shown, path, metropolis };
})();

(() => {
  const { gauss, shown, path, metropolis } = Moving.well;
  const BASES = { "wide": [0, 2.5], "narrow, on the left": [-2.2, 0.48] };
  let base = "wide", steps = 60, k = 0, particles = [], logW = [], rng, way;

  const part = {
    name: "annealed particles", width: 720, height: 320, chunk: 15,
    label: "A density that turns from one hump into two, and 60 particles on it as circles " +
      "whose area is their weight.",
    reset() {
      const [m, s] = BASES[base];
      rng = Moving.random(3);
      way = path((x) => gauss(x, m, s));
      k = 0;
      particles = Array.from({ length: 60 }, () => m + s * rng.normal());
      logW = particles.map(() => 0);
    },
    step() {
      const low = k / steps, high = (k + 1) / steps;
      particles = particles.map((x, i) => {
        logW[i] += way.at(x, high) - way.at(x, low);
        return metropolis(x, (y) => way.at(y, high), rng, 0.5, 2);
      });
      k += 1;
    },
    done: () => k >= steps,
    draw(ctx) {
      const beta = k / steps, log = way.logZ(beta);
      const at = Moving.frame(ctx, { x: 50, y: 12, w: 650, h: 258 }, [-6, 6], [0, 0.72],
        "state x", "density at β", 6);
      const p = (x) => Math.exp(way.at(x, beta) - log);
      Moving.curve(ctx, at, shown, shown.map(p), Moving.GREY);
      const scale = Moving.logMeanExp(logW);
      particles.forEach((x, i) => {
        if (Math.abs(x) > 6) return;
        ctx.beginPath();
        ctx.arc(at.x(x), at.y(p(x)), 5 * Math.sqrt(Math.exp(logW[i] - scale)), 0, 2 * Math.PI);
        ctx.fillStyle = "rgba(11, 83, 148, 0.35)";
        ctx.fill();
      });
    },
    says() {
      const right = particles.filter((x) => x > 0).length;
      return `β = ${(k / steps).toFixed(2)}; effective sample size ${Moving.ess(logW).toFixed(0)} ` +
        `of 60; estimate of log Z ${Moving.logMeanExp(logW).toFixed(2)}, ` +
        `exact ${way.logZ(k / steps).toFixed(2)}; ${right} particles on the right`;
    },
    setUp(figure) {
      figure.slider("steps", 5, 200, 5, 60, (value) => { steps = value; part.reset(); });
      figure.choose("base", Object.keys(BASES), (value) => { base = value; });
    },
  };
  Moving.figure("moving-wells", part);
})();

/* A tempered chain between two modes, with its guesses of log Z learned on the way (SAMS). */
"use strict";

(() => {
  const { gauss, path, metropolis } = Moving.well;
  const K = 9, betas = Array.from({ length: K + 1 }, (_, k) => k / K);
  /* a narrow base beside unnormalised wells: log Z rises along the path */
  const RISE = 8;
  const way = path((x) => gauss(x, 0, 2.5));
  const exact = betas.map((b) => way.logZ(b) + RISE * b - way.logZ(0));
  let x, k, t, guess, learning = true, seen, visits, rng;

  function reset() {
    rng = Moving.random(11);
    x = 0; k = 0; t = 0;
    guess = betas.map(() => 0);
    seen = [];
    visits = { left: 0, right: 0, last: 0, crossings: 0 };
  }

  function step() {
    t += 1;
    x = metropolis(x, (y) => way.at(y, betas[k]), rng, 0.7, 4);
    const logits = betas.map((b, j) => way.at(x, b) + RISE * b - guess[j]);
    const total = Moving.logMeanExp(logits) + Math.log(K + 1);
    const q = logits.map((l) => Math.exp(l - total));
    let u = rng.uniform();
    k = 0;
    while (k < K && (u -= q[k]) > 0) k += 1;
    if (learning) {
      const gain = t <= 300 ? t ** -0.7 : 1 / (t - 300 + 300 ** 0.7);
      const size = Math.min(1, (K + 1) * gain);
      guess = guess.map((g, j) => g + size * q[j]);
      guess = guess.map((g) => g - guess[0]);
    }
    if (k === K && Math.abs(x) > 1) {
      const mode = Math.sign(x);
      if (mode !== visits.last && visits.last) visits.crossings += 1;
      visits.last = mode;
      visits[mode > 0 ? "right" : "left"] += 1;
    }
    seen.push([k, x]);
    if (seen.length > 400) seen.shift();
  }

  const part = {
    name: "tempering between two modes", width: 720, height: 320, perFrame: 3, chunk: 200,
    label: "Left: where one chain is, its beta upwards against its state; it climbs from a broad " +
      "base into two modes. Right: the learned guesses of log Z as bars beside the exact values.",
    reset, step,
    done: () => false,
    draw(ctx) {
      const at = Moving.frame(ctx, { x: 44, y: 12, w: 380, h: 258 }, [-6, 6], [-0.06, 1.06],
        "state x", "β", 6);
      seen.forEach(([place, where], i) => {
        ctx.globalAlpha = 0.08 + (0.6 * i) / seen.length;
        ctx.fillStyle = Moving.BLUE;
        ctx.fillRect(at.x(Math.max(-6, Math.min(6, where))) - 2, at.y(betas[place]) - 2, 4, 4);
      });
      ctx.globalAlpha = 1;
      ctx.fillStyle = Moving.ORANGE;
      ctx.beginPath();
      ctx.arc(at.x(Math.max(-6, Math.min(6, x))), at.y(betas[k]), 6, 0, 2 * Math.PI);
      ctx.fill();
      const top = Math.max(10, ...guess, ...exact) * 1.05, low = Math.min(-2, ...guess);
      const bars = Moving.frame(ctx, { x: 480, y: 12, w: 220, h: 258 }, [-0.06, 1.06], [low, top],
        "β", "log Z (nats)", [0, 0.5, 1]);
      ctx.fillStyle = "rgba(46, 125, 50, 0.5)";
      guess.forEach((g, j) =>
        ctx.fillRect(bars.x(betas[j]) - 7, bars.y(g), 14, bars.y(0) - bars.y(g)));
      Moving.curve(ctx, bars, betas, exact, Moving.INK, 1.5, [5, 4]);
    },
    says: () => `${t} sweeps; log Z learned ${guess[K].toFixed(2)}, exact ${exact[K].toFixed(2)} ` +
      `(dashed); at β = 1 the chain was ${visits.left} times on the left, ${visits.right} on ` +
      `the right, and changed sides ${visits.crossings} times`,
    setUp(figure) {
      figure.button("Wrong guesses", () => {
        learning = false;
        guess = exact.map((e, j) => e - 12 * betas[j]);
        visits = { left: 0, right: 0, last: 0, crossings: 0 };
      });
      figure.button("Learn on the way", () => {
        learning = true;
        reset();
      });
    },
  };
  Moving.figure("moving-tempering", part);
})();

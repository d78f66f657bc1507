/* Forward and reverse log-weights between two Gaussians: both histograms cross at log Z. */
"use strict";

(() => {
  const N = 4000, FROM = { m: 0, s: 1 }, TO = { m: 4, s: 0.6 }, LOG_Z = 3;
  let steps = 8, up = [], down = [];

  /* log p*_beta is a parabola; its Gaussian is known, and a move forgets half of the way */
  const at = (beta) => {
    const a = (1 - beta) / FROM.s ** 2, b = beta / TO.s ** 2;
    return { m: (a * FROM.m + b * TO.m) / (a + b), s: 1 / Math.sqrt(a + b) };
  };
  const log = (x, g) => -0.5 * ((x - g.m) / g.s) ** 2 - Math.log(g.s * Math.sqrt(2 * Math.PI));
  const score = (x, beta) => (1 - beta) * log(x, FROM) + beta * (log(x, TO) + LOG_Z);
  const move = (x, beta, rng) => {
    const g = at(beta);
    return g.m + 0.5 * (x - g.m) + Math.sqrt(0.75) * g.s * rng.normal();
  };

  function reset() {
    const rng = Moving.random(5);
    up = Array.from({ length: N }, () => {
      let x = FROM.m + FROM.s * rng.normal(), w = 0;
      for (let k = 1; k <= steps; k++) {
        w += score(x, k / steps) - score(x, (k - 1) / steps);
        x = move(x, k / steps, rng);
      }
      return w;
    });
    down = Array.from({ length: N }, () => {
      let x = TO.m + TO.s * rng.normal(), r = 0;
      for (let k = steps; k >= 1; k--) {
        r += score(x, k / steps) - score(x, (k - 1) / steps);
        x = move(x, (k - 1) / steps, rng);
      }
      return r;
    });
  }

  const LOW = -12, HIGH = 18, BINS = 75;
  const histogram = (values) => {
    const counts = new Array(BINS).fill(0);
    for (const v of values) {
      const bin = Math.floor(((v - LOW) / (HIGH - LOW)) * BINS);
      if (bin >= 0 && bin < BINS) counts[bin] += BINS / (HIGH - LOW) / N;
    }
    return counts;
  };

  const part = {
    name: "forward and reverse log-weights", width: 720, height: 320,
    label: "Two histograms of log-weights. The forward one lies left of the exact log Z, the " +
      "reverse one right of it; they cross at the exact value and close in with more steps.",
    reset,
    done: () => false,
    draw(ctx) {
      const both = [[histogram(up), Moving.BLUE], [histogram(down), Moving.ORANGE]];
      const top = 1.15 * Math.max(...both[0][0], ...both[1][0]);
      const axes = Moving.frame(ctx, { x: 50, y: 12, w: 650, h: 258 }, [LOW, HIGH], [0, top],
        "log-weight (nats)", "density", 6);
      const width = (HIGH - LOW) / BINS;
      both.forEach(([counts, colour], i) => {
        const xs = [], ys = [];
        counts.forEach((c, j) => {
          xs.push(LOW + j * width, LOW + (j + 1) * width);
          ys.push(c, c);
        });
        Moving.curve(ctx, axes, xs, ys, colour, 2, i ? [6, 3] : []);
      });
      Moving.curve(ctx, axes, [LOG_Z, LOG_Z], [0, top], Moving.INK, 1.5, [2, 3]);
      ctx.font = Moving.FONT;
      ctx.textAlign = "left";
      [["forward (AIS)", Moving.BLUE], ["reverse AIS, dashed", Moving.ORANGE],
        ["exact log Z, dotted", Moving.INK]].forEach(([text, colour], i) => {
        ctx.fillStyle = colour;
        ctx.fillText(text, 62, 34 + 20 * i);
      });
    },
    says: () => `${steps} steps: mean forward ${Moving.mean(up).toFixed(2)}, exact log Z ` +
      `${LOG_Z.toFixed(2)}, mean reverse ${Moving.mean(down).toFixed(2)}; log of the mean forward ` +
      `weight ${Moving.logMeanExp(up).toFixed(2)}, effective sample size ` +
      `${Moving.ess(up).toFixed(0)} of ${N}`,
    setUp(figure) {
      figure.slider("steps", 1, 60, 1, steps, (value) => { steps = value; reset(); });
    },
  };
  Moving.figure("moving-bracket", part);
})();

/* A trained RBM with 20 hidden units draws digits: 16 chains of Gibbs sampling, led by a dial from
   the base (0) to the model (1). Its weights are in pcd_20.js. */
"use strict";

(() => {
  const stored = window.movingModel, side = 28, nVisible = side * side, nHidden = stored.n_hidden;
  const unpack = (text, scale) =>
    Float32Array.from(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)),
      (x) => ((x ^ 128) - 128) * scale);
  const weights = unpack(stored.weights, stored.weights_scale);
  const visible = unpack(stored.visible_bias, stored.visible_scale);
  const base = unpack(stored.base, stored.base_scale);
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));

  function sweep(chain, beta, rng) {
    const fields = visible.slice();
    for (let j = 0; j < nHidden; j++) {
      let field = stored.hidden_bias[j];
      for (let i = 0; i < nVisible; i++) if (chain.v[i]) field += weights[i * nHidden + j];
      if (rng.uniform() < sigmoid(beta * field))
        for (let i = 0; i < nVisible; i++) fields[i] += weights[i * nHidden + j];
    }
    chain.p = fields.map((field, i) => sigmoid((1 - beta) * base[i] + beta * field));
    chain.v = chain.p.map((p) => (rng.uniform() < p ? 1 : 0));
  }

  Scene.define("digits", {
    picks: [{ beta: 0 }, { beta: 0 }, { beta: 0 }],
    start: { beta: 1, sweeps: 60 },
    dials: { beta: { text: "β, from base to model", min: 0, max: 1, step: 0.05, shows: (b) => Scene.fix(b) },
      sweeps: { values: [0, 1, 2, 3, 5, 8, 13, 20, 40, 60, 100, 200] } },
    height: (width) => (width < 560 ? width + 16 : width / 4 + 16),
    label: "Sixteen small pictures, each of a chain of Gibbs sampling: blurred near the base, like handwritten digits near the model",
    run({ beta, sweeps }, seed) {
      const rng = Hills.random(seed);
      return Array.from({ length: 16 }, () => {
        const p = base.map(sigmoid), chain = { p, v: p.map((x) => (rng.uniform() < x ? 1 : 0)) };
        for (let t = 0; t < sweeps; t++) sweep(chain, beta, rng);
        return chain.p;
      });
    },
    draw(pictures, v, panels) {
      const columns = panels.right.y > panels.left.y ? 4 : 8, cell = side + 2;
      const small = Object.assign(document.createElement("canvas"), { width: columns * cell, height: (16 / columns) * cell });
      const pen = small.getContext("2d");
      pictures.forEach((p, c) => {
        const image = pen.createImageData(side, side);
        p.forEach((x, i) => { image.data[4 * i + 3] = 255 * x; });
        pen.putImageData(image, (c % columns) * cell, Math.floor(c / columns) * cell);
      });
      return `<image y="8" width="100%" href="${small.toDataURL()}"/>`;
    },
    says: (pictures, v) => `After ${v.sweeps} sweeps at β = ${Scene.fix(v.beta)}, a picture has `
      + `${Math.round(Hills.mean(pictures.map((p) => p.filter((x) => x > 0.1 && x < 0.9).length)))} of ${nVisible} pixels that are neither white nor black (between 10% and 90%).`,
  });
})();

/* A trained RBM with 20 hidden units draws digits: Gibbs sweeps, with the dial from base to model. */
"use strict";

(() => {
  const stored = window.movingModel;
  if (!stored) return;
  const unpack = (text, scale) =>
    Float32Array.from(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)),
      (x) => ((x ^ 128) - 128) * scale);
  const side = 28, nVisible = side * side, nHidden = stored.n_hidden;
  const weights = unpack(stored.weights, stored.weights_scale);
  const visible = unpack(stored.visible_bias, stored.visible_scale);
  const base = unpack(stored.base, stored.base_scale);
  const hidden = stored.hidden_bias;
  const columns = 8, rows = 2, n = columns * rows, cell = 84;
  let beta = 1, sweeps = 0, chains = [], rng;

  function sweep(chain) {
    const h = new Float32Array(nHidden);
    for (let j = 0; j < nHidden; j++) {
      let field = hidden[j];
      for (let i = 0; i < nVisible; i++) if (chain.v[i]) field += weights[i * nHidden + j];
      h[j] = rng.uniform() < Moving.sigmoid(beta * field) ? 1 : 0;
    }
    for (let i = 0; i < nVisible; i++) {
      let field = visible[i];
      for (let j = 0; j < nHidden; j++) if (h[j]) field += weights[i * nHidden + j];
      chain.p[i] = Moving.sigmoid((1 - beta) * base[i] + beta * field);
      chain.v[i] = rng.uniform() < chain.p[i] ? 1 : 0;
    }
  }

  const small = document.createElement("canvas");
  small.width = small.height = side;

  const part = {
    name: "digits of an RBM", width: 720, height: 190, perFrame: 1, chunk: 20,
    label: "Sixteen small pictures, each a chain of Gibbs sampling. With beta at 1 they look " +
      "like handwritten digits, with beta at 0 like the blurred mean of all digits.",
    reset() {
      rng = Moving.random(7);
      sweeps = 0;
      chains = Array.from({ length: n }, () => {
        const p = Float32Array.from(base, Moving.sigmoid);
        return { p, v: Uint8Array.from(p, (x) => (rng.uniform() < x ? 1 : 0)) };
      });
      const dial = beta;
      beta = 1; // the first picture is one of digits, wherever the dial stands
      for (let i = 0; i < 40; i++) chains.forEach(sweep);
      beta = dial;
    },
    step() {
      chains.forEach(sweep);
      sweeps += 1;
    },
    done: () => false,
    draw(ctx) {
      const pen = small.getContext("2d"), image = pen.createImageData(side, side);
      chains.forEach((chain, c) => {
        for (let i = 0; i < nVisible; i++) {
          const shade = 255 * (1 - chain.p[i]);
          image.data.set([shade, shade, shade, 255], 4 * i);
        }
        pen.putImageData(image, 0, 0);
        const x = 12 + (c % columns) * (cell + 4), y = 8 + Math.floor(c / columns) * (cell + 6);
        ctx.imageSmoothingEnabled = false;
        ctx.drawImage(small, x, y, cell, cell);
        ctx.strokeStyle = "#cccccc";
        ctx.strokeRect(x, y, cell, cell);
      });
    },
    says: () => `β = ${beta.toFixed(2)}, ${sweeps} sweeps`,
    setUp(figure) {
      figure.slider("β, from base to model", 0, 1, 0.05, 1, (value) => { beta = value; });
    },
  };
  Moving.figure("moving-digits", part);
})();

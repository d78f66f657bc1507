/* Drag the temperatures: what each step of a schedule adds to the variance of log w. */
"use strict";

(() => {
  const K = 6;
  const root = (b) => 4 + 40 * Math.exp(-b / 0.1) + 14 * Math.exp(-(((b - 0.75) / 0.1) ** 2));
  const fine = Array.from({ length: 1001 }, (_, i) => i / 1000);
  const area = [0];
  for (let i = 1; i <= 1000; i++) area.push(area[i - 1] + root((fine[i] + fine[i - 1]) / 2) / 1000);
  const equalSteps = Array.from({ length: K + 1 }, (_, k) => k / K);
  const equalAreas = equalSteps.map((t) => fine[area.findIndex((a) => a >= t * area[1000] - 1e-9)]);
  let betas = [...equalSteps], sliders = [], held = -1;

  /* area of a strip: with perfect moves its square is what the step adds, for small steps */
  const strip = (k) => area[Math.round(1000 * betas[k + 1])] - area[Math.round(1000 * betas[k])];
  const variance = () => equalSteps.slice(1).reduce((sum, _, k) => sum + strip(k) ** 2, 0);

  function move(k, value) {
    betas[k] = Math.min(Math.max(value, betas[k - 1] + 0.005), betas[k + 1] - 0.005);
    show();
  }
  function show() {
    sliders.forEach((slider, i) => {
      slider.value = betas[i + 1];
      slider.setAttribute("aria-valuetext", `β ${betas[i + 1].toFixed(3)}`);
    });
  }

  const box = { x: 56, y: 12, w: 640, h: 256 };
  const part = {
    name: "temperatures of a schedule", width: 720, height: 320,
    label: "A curve, the spread of slopes against beta: high at 0, low in the middle, with a " +
      "hump at 0.75. Vertical lines, the temperatures, cut the area under it into six strips.",
    reset() { betas = [...equalSteps]; show(); },
    done: () => false,
    draw(ctx) {
      const at = Moving.frame(ctx, box, [0, 1], [0, 46], "inverse temperature β",
        "spread of the slopes √g (nats)");
      for (let k = 0; k < K; k++) {
        const inside = fine.filter((b) => b >= betas[k] && b <= betas[k + 1]);
        ctx.beginPath();
        ctx.moveTo(at.x(betas[k]), at.y(0));
        inside.forEach((b) => ctx.lineTo(at.x(b), at.y(root(b))));
        ctx.lineTo(at.x(betas[k + 1]), at.y(0));
        ctx.fillStyle = k % 2 ? "rgba(11, 83, 148, 0.18)" : "rgba(11, 83, 148, 0.36)";
        ctx.fill();
        ctx.fillStyle = Moving.INK;
        ctx.textAlign = "center";
        const middle = (at.x(betas[k]) + at.x(betas[k + 1])) / 2;
        ctx.fillText((strip(k) ** 2).toFixed(1), middle, at.y(1.2));
      }
      Moving.curve(ctx, at, fine, fine.map(root), Moving.BLUE);
      betas.slice(1, K).forEach((b) => {
        Moving.curve(ctx, at, [b, b], [0, 46], Moving.ORANGE, 2);
        ctx.fillStyle = Moving.ORANGE;
        ctx.fillRect(at.x(b) - 6, at.y(46), 12, 16);
      });
    },
    says: () => `Variance of log w: ${variance().toFixed(1)}. Equal areas have ` +
      `${(area[1000] ** 2 / K).toFixed(1)}, the least that ${K} steps can have; equal steps ` +
      `${equalSteps.slice(1).reduce((s, b, k) => s + (area[Math.round(1000 * b)]
        - area[Math.round(1000 * equalSteps[k])]) ** 2, 0).toFixed(1)}.`,
    setUp(figure) {
      figure.button("Equal steps", () => { betas = [...equalSteps]; show(); });
      figure.button("Equal areas", () => { betas = [...equalAreas]; show(); });
      for (let k = 1; k < K; k++)
        sliders.push(figure.slider(`β${"₀₁₂₃₄₅"[k]}`, 0, 1, 0.005, betas[k],
          (value) => move(k, value)));
      const where = (event) => {
        const rect = figure.canvas.getBoundingClientRect();
        return (((event.clientX - rect.left) / rect.width) * 720 - box.x) / box.w;
      };
      figure.canvas.addEventListener("pointerdown", (event) => {
        const b = where(event);
        held = 1;
        for (let k = 2; k < K; k++)
          if (Math.abs(betas[k] - b) < Math.abs(betas[held] - b)) held = k;
        if (Math.abs(betas[held] - b) > 0.04) held = -1;
        else figure.canvas.setPointerCapture(event.pointerId);
      });
      figure.canvas.addEventListener("pointermove", (event) => {
        if (held < 0) return;
        move(held, where(event));
        figure.draw();
      });
      figure.canvas.addEventListener("pointerup", () => { held = -1; });
      figure.canvas.addEventListener("pointercancel", () => { held = -1; });
    },
  };
  Moving.figure("moving-ladder", part);
})();

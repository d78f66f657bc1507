/* What the moving figures share: a canvas with controls, a clock that respects reduced motion,
   random numbers with a seed, and a few drawing helpers. No library, no network. */
"use strict";

const Moving = (() => {
  const INK = "#1a1a1a", GREY = "#6b6b6b", BLUE = "#0b5394", ORANGE = "#b45309", GREEN = "#2e7d32";
  const FONT = "14px system-ui, sans-serif";
  const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

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

  const sigmoid = (x) => (x > 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));

  function logMeanExp(values) {
    let top = -Infinity;
    for (const x of values) top = Math.max(top, x);
    let sum = 0;
    for (const x of values) sum += Math.exp(x - top);
    return top + Math.log(sum / values.length);
  }

  function ess(logWeights) {
    const mean = logMeanExp(logWeights);
    let squares = 0;
    for (const x of logWeights) squares += Math.exp(2 * (x - mean));
    return logWeights.length ** 2 / squares;
  }

  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

  /* a plot's frame: pixels of x and y, and axes with labels */
  function frame(ctx, box, xRange, yRange, xLabel, yLabel, ticks = 5) {
    const x = (v) => box.x + ((v - xRange[0]) / (xRange[1] - xRange[0])) * box.w;
    const y = (v) => box.y + box.h - ((v - yRange[0]) / (yRange[1] - yRange[0])) * box.h;
    ctx.strokeStyle = GREY;
    ctx.fillStyle = INK;
    ctx.lineWidth = 1;
    ctx.font = FONT;
    ctx.strokeRect(box.x, box.y, box.w, box.h);
    ctx.textAlign = "center";
    const places = Array.isArray(ticks) ? ticks : Array.from({ length: ticks + 1 },
      (_, i) => xRange[0] + ((xRange[1] - xRange[0]) * i) / ticks);
    for (const v of places) {
      ctx.fillText(String(Math.round(v * 100) / 100), x(v), box.y + box.h + 17);
    }
    ctx.fillText(xLabel, box.x + box.w / 2, box.y + box.h + 36);
    ctx.save();
    ctx.translate(box.x - 14, box.y + box.h / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(yLabel, 0, 0);
    ctx.restore();
    return { x, y };
  }

  function curve(ctx, at, xs, ys, colour, width = 2, dash = []) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.beginPath();
    xs.forEach((x, i) => (i ? ctx.lineTo(at.x(x), at.y(ys[i])) : ctx.moveTo(at.x(x), at.y(ys[i]))));
    ctx.stroke();
    ctx.setLineDash([]);
  }

  function control(figure, kind, text, setUp) {
    const label = document.createElement(kind === "button" ? "button" : "label");
    label.className = "moving-control";
    if (kind === "button") {
      label.type = "button";
      label.textContent = text;
      figure.bar.append(label);
      setUp(label);
      return label;
    }
    const input = document.createElement(kind === "select" ? "select" : "input");
    if (kind !== "select") input.type = kind;
    setUp(input);
    const words = document.createElement("span");
    words.textContent = text;
    label.append(words, input);
    figure.bar.append(label);
    return input;
  }

  /* A figure in the element with this id. `part` gives: width, height, label, draw(ctx), step(),
     chunk (steps of one press where motion is not wanted), done(), says(), and setUp(figure). */
  function figure(id, part) {
    const host = document.getElementById(id);
    if (!host) return null;
    const canvas = document.createElement("canvas");
    const scale = 2;
    canvas.width = part.width * scale;
    canvas.height = part.height * scale;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", part.label);
    const bar = document.createElement("div");
    bar.className = "moving-bar";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", `Controls: ${part.name}`);
    const words = document.createElement("p");
    words.className = "moving-says";
    words.setAttribute("role", "status");
    const still = host.querySelector("img");
    still.hidden = true;
    still.after(canvas, bar, words);
    const ctx = canvas.getContext("2d");
    const self = { host, canvas, bar, running: false };

    self.draw = () => {
      ctx.setTransform(scale, 0, 0, scale, 0, 0);
      ctx.fillStyle = "#ffffff";
      ctx.fillRect(0, 0, part.width, part.height);
      part.draw(ctx);
      const text = part.says();
      if (self.running) host.dataset.says = text; // a screen reader is told when it stops
      else words.textContent = host.dataset.says = text;
      if (self.running) words.setAttribute("aria-live", "off");
      else words.removeAttribute("aria-live");
      if (self.running) words.textContent = text;
    };
    const advance = (n) => {
      for (let i = 0; i < n && !part.done(); i++) part.step();
      if (part.done()) self.stop();
      self.draw();
    };
    const tick = () => {
      if (!self.running) return;
      advance(part.perFrame || 1);
      if (self.running) window.requestAnimationFrame(tick);
    };
    self.stop = () => {
      self.running = false;
      if (self.play) self.play.textContent = "Run";
    };
    self.toggle = () => {
      if (self.running) {
        self.stop();
        self.draw();
        return;
      }
      if (part.done()) part.reset();
      if (calm()) {
        advance(part.chunk);
        return;
      }
      self.running = true;
      self.play.textContent = "Pause";
      window.requestAnimationFrame(tick);
    };
    self.again = () => {
      self.stop();
      part.reset();
      self.draw();
    };
    if (part.step) {
      self.play = control(self, "button", "Run", (b) => b.addEventListener("click", self.toggle));
      control(self, "button", "One step", (b) =>
        b.addEventListener("click", () => {
          self.stop();
          if (part.done()) part.reset();
          advance(1);
        }));
      control(self, "button", "Start again", (b) => b.addEventListener("click", self.again));
    }
    self.slider = (text, min, max, step, value, changed) =>
      control(self, "range", text, (input) => {
        Object.assign(input, { min, max, step, value });
        input.addEventListener("input", () => {
          changed(Number(input.value), input);
          self.draw();
        });
      });
    self.button = (text, pressed) =>
      control(self, "button", text, (b) =>
        b.addEventListener("click", () => {
          pressed(b);
          self.draw();
        }));
    self.choose = (text, options, changed) =>
      control(self, "select", text, (select) => {
        for (const option of options) select.add(new Option(option, option));
        select.addEventListener("change", () => {
          changed(select.value);
          self.again();
        });
      });
    if (part.setUp) part.setUp(self);
    part.reset();
    self.draw();
    return self;
  }

  return {
    figure, random, sigmoid, logMeanExp, ess, mean, frame, curve,
    INK, GREY, BLUE, ORANGE, GREEN, FONT,
  };
})();

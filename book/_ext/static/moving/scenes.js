/* The moving figures: two hills with dials, and the method of a lesson on them. Where a figure asks
   first, the answer, the whole picture and the dials come after a choice. */
"use strict";

const Scene = (() => {
  const fix = (x, digits = 2) => x.toFixed(digits).replace("-", "−");
  const tag = (name, props, ...kids) => {
    const made = Object.assign(document.createElement(name), props);
    made.append(...kids);
    return made;
  };
  const REACH = 5.2, BASE_TOP = 80;   // of the line shown to both sides; pixels of the dashed curve
  const DIALS = {
    base: { text: "Chains begin at", min: -3.6, max: 3.6, step: 0.1, shows: (v) => fix(v, 1) },
    apart: { text: "Hills apart", min: 1, max: 3.6, step: 0.1, shows: (v) => fix(2 * v, 1) },
    steps: { text: "Steps", values: [10, 20, 30, 50, 80, 120, 200, 300, 400] },
    sweeps: { text: "Sweeps", values: [50, 100, 200, 500, 1000, 2000, 5000] },
  };

  /* ---------------------------------------------------------------- pieces of a drawing, as SVG */
  const at = (box, xs, ys) => ({
    X: (v) => box.x + ((v - xs[0]) / (xs[1] - xs[0])) * box.w,
    Y: (v) => box.y + box.h - ((v - ys[0]) / (ys[1] - ys[0])) * box.h,
  });
  const path = (points, kind) =>
    `<path class="${kind}" d="M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}"/>`;
  const dot = (x, y, r, kind) =>
    `<circle class="${kind}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r}"/>`;
  const words = (x, y, text, anchor = "middle", kind = "") =>
    `<text class="${kind}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${text}</text>`;
  const level = (box, y, kind) => path([[box.x, y], [box.x + box.w, y]], kind);
  const ticks = (lo, hi, n = 4) => {
    const rough = (hi - lo) / n, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((s) => s * power >= rough);
    return Array.from({ length: Math.floor(hi / step) - Math.ceil(lo / step) + 1 },
      (_, i) => (Math.ceil(lo / step) + i) * step);
  };
  function axes(box, xs, ys, xText, yText) {
    const { X, Y } = at(box, xs, ys);
    let svg = words(box.x, box.y - 10, yText, "start");
    const few = (values) => {
      const digits = [0, 1, 2, 3].find((n) => values.every((v) => Math.abs(v - v.toFixed(n)) < 1e-9)) ?? 3;
      return values.map((v) => [v, fix(v, digits)]);
    };
    for (const [v, text] of few(ticks(...ys))) svg += level(box, Y(v), "grid") + words(box.x - 6, Y(v) + 4, text, "end");
    for (const [v, text] of few(ticks(...xs))) svg += words(X(v), box.y + box.h + 17, text);
    return { X, Y, svg: svg + words(box.x + box.w / 2, box.y + box.h + 36, xText) };
  }
  /* two panels: beside each other, or on a phone one below the other */
  const panels = (width) => (width < 560
    ? { height: 500, left: { x: 34, y: 26, w: width - 44, h: 160 }, right: { x: 34, y: 272, w: width - 44, h: 180 } }
    : { height: 300, left: { x: 34, y: 28, w: width * 0.44 - 34, h: 214 },
        right: { x: width * 0.44 + 54, y: 28, w: width * 0.56 - 66, h: 214 } });
  /* the hills, the base as a dashed curve, and dots: [place, radius, class] */
  function hills(box, m, dots = [], text = "two hills (log density), and the base") {
    const { X, Y } = at({ ...box, h: box.h - 24 }, [-REACH, REACH], [6, 22]);
    const xs = Array.from({ length: 20 * REACH + 1 }, (_, i) => -REACH + i / 10);
    const floor = box.y + box.h - 24;
    let svg = words(box.x, box.y - 10, text, "start");
    svg += path([[X(-REACH), floor], ...xs.map((x) => [X(x), Math.min(floor, Y(m.target(x)))]), [X(REACH), floor]], "ground");
    svg += path(xs.map((x) => [X(x), floor - BASE_TOP * Math.exp(-0.5 * ((x - m.base) / Hills.SIGMA) ** 2)]), "base");
    dots.forEach(([x, r, kind], i) => {
      svg += dot(X(Math.max(-REACH, Math.min(REACH, x))), floor + 9 + ((i * 7) % 5) * 3, r, kind);
    });
    return svg;
  }
  const right = (w) => (Math.abs(w - Hills.LOGZ) < 2 ? "blue" : "orange");
  const fooled = (found) => found.low > 1 && found.agree >= 50;
  /* what each chain says, in order, and those that agree on a wrong value */
  function sorted(box, chains, found, open) {
    const n = chains.length, lo = Math.min(11, chains[0].w - 0.5), hi = Math.max(22, chains[n - 1].w + 0.5);
    const { X, Y, svg } = axes(box, [0, n], [lo, hi], open ? "200 chains (orange: 2 nats off, or more)" : "200 chains", "log Z by each chain (nats), in order");
    const dots = chains.map((c, i) => dot(X(i), Y(c.w), 2.4, open ? right(c.w) : "grey")).join("");
    if (!open) return svg + dots;
    let marks = level(box, Y(Hills.LOGZ), "truth") + words(box.x + 4, Y(Hills.LOGZ) - 7, "exact", "start");
    if (fooled(found)) {
      const first = chains.findIndex((c) => c.w >= found.at - 0.2501), last = X(first + found.agree - 1), y = Y(found.at);
      marks += `<rect class="band" x="${X(first)}" width="${last - X(first)}" y="${y - 9}" height="18"/>`
        + words((X(first) + last) / 2, y - 16, `${found.agree} agree to half a nat`, "middle", "warm")
        + path([[last + 10, y], [last + 10, Y(Hills.LOGZ) + 2]], "orange")
        + words(last + 4, (y + Y(Hills.LOGZ)) / 2, `${fix(found.low, 1)} nats`, "end", "warm");
    }
    return svg + marks + dots;
  }

  /* ------------------------------------------------------------------------------- one scene */
  const all = {};
  const define = (name, part) => { all[name] = part; };

  /* A slider for one of the values; `changed` runs after it has moved. Gives back what shows a value
     that was set in another way. */
  function slider(bar, name, own, value, changed) {
    const dial = { ...DIALS[name], ...own }, list = dial.values, out = tag("output");
    const input = tag("input", list ? { type: "range", min: 0, max: list.length - 1, step: 1 }
      : { type: "range", min: dial.min, max: dial.max, step: dial.step });
    const show = () => {
      input.value = list ? list.indexOf(value[name]) : value[name];
      out.textContent = dial.shows ? dial.shows(value[name]) : value[name].toLocaleString("en");
    };
    input.addEventListener("input", () => {
      value[name] = list ? list[Number(input.value)] : Number(input.value);
      show();
      requestAnimationFrame(changed);
    });
    bar.append(tag("label", {}, tag("span", { textContent: dial.text }), input, out));
    show();
    return Object.assign(show, { dial });
  }
  function pill(bar, textContent, pressed) {
    const button = tag("button", { type: "button", className: "pill", textContent });
    button.addEventListener("click", pressed);
    bar.append(button);
    return button;
  }

  function build(host) {
    const part = all[host.dataset.scene], value = { ...part.start };
    const choices = host.querySelector(".scene-choices"), answer = host.querySelector(".scene-answer");
    let open = !choices, seed = part.seed ?? 123, data, width;
    const svg = tag("div", { innerHTML: "<svg></svg>" }).firstChild;
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", part.label);
    const bar = tag("div", { className: "scene-bar", hidden: !open });
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Dials of the figure");
    const says = tag("p", { className: "scene-says", hidden: !open });
    says.setAttribute("role", "status");
    host.querySelectorAll(".scene-still").forEach((still) => still.remove());
    if (choices) { host.querySelector(".scene-asks").after(svg); choices.after(says, bar); }
    else host.prepend(says, svg, bar);

    function draw() {
      width = Math.max(300, host.clientWidth - 40);
      const height = part.height?.(width, open) ?? panels(width).height;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.innerHTML = part.draw(data, value, panels(width), open);
      if (open && dials.base) {   // the base can be dragged
        const { x, y, w, h } = panels(width).left;
        svg.innerHTML += dot(x + ((value.base + REACH) / (2 * REACH)) * w, y + h - 24 - BASE_TOP, 7, "handle");
      }
      says.innerHTML = part.says(data, value);
    }
    function again() {
      data = part.run(value, seed);
      draw();
    }
    const dials = {};
    for (const [name, own] of Object.entries(part.dials)) dials[name] = slider(bar, name, own, value, again);

    /* "Run" goes through the values of one dial, or to the last one where motion is not wanted */
    let timer = null;
    const [played, list] = Object.entries(dials).map(([name, show]) => [name, show.dial.values]).find(([, values]) => values) ?? [];
    function turn(n) {
      value[played] = list[n];
      dials[played]();
      again();
      timer = n + 1 < list.length ? setTimeout(turn, 350, n + 1) : null;
      run.textContent = timer ? "Pause" : "Run";
      says.setAttribute("aria-live", timer ? "off" : "polite");   // told when it stops
    }
    const run = played && pill(bar, "Run", () => {
      if (timer) {
        clearTimeout(timer);
        timer = null;
        run.textContent = "Run";
        return;
      }
      turn(matchMedia("(prefers-reduced-motion: reduce)").matches ? list.length - 1 : 0);
    });
    if (part.random !== false) pill(bar, "Other random numbers", () => { seed += 1; again(); });

    let held = false;
    svg.addEventListener("pointerdown", (e) => {
      held = e.target.matches(".handle");
      if (held) svg.setPointerCapture(e.pointerId);
    });
    svg.addEventListener("pointermove", (e) => {
      if (!held) return;
      const { left, width: shown } = svg.getBoundingClientRect(), box = panels(width).left, { min, max } = dials.base.dial;
      const place = (2 * (((e.clientX - left) * width) / shown - box.x) / box.w - 1) * REACH;
      value.base = Math.round(10 * Math.max(min, Math.min(max, place))) / 10;
      dials.base();
      requestAnimationFrame(again);
    });
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { held = false; });

    function reveal(chosen) {
      open = true;
      const picked = part.picks?.[[...choices.querySelectorAll("button")].indexOf(chosen)];
      if (picked) {   // the choice is a setting: it is tried
        Object.assign(value, picked);
        Object.values(dials).forEach((put) => put());
        data = part.run(value, seed);
      }
      answer.open = true;
      bar.hidden = says.hidden = false;
      for (const button of choices.querySelectorAll("button")) {
        const good = "right" in button.dataset;
        button.classList.toggle("good", good);
        button.classList.toggle("bad", button === chosen && !good);
        button.setAttribute("aria-pressed", String(button === chosen));
      }
      draw();
    }
    for (const item of [...(choices?.children ?? [])]) {
      const text = item.textContent;
      item.replaceChildren();
      const button = pill(item, text, () => reveal(button));
      if ("right" in item.dataset) button.dataset.right = "";
    }
    answer?.addEventListener("toggle", () => { if (answer.open && !open) reveal(null); });
    data = part.run(value, seed);
    new ResizeObserver(draw).observe(host);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-scene]").forEach(build));
  return { REACH, define, all, fix, tag, at, axes, path, dot, words, level, hills, sorted, fooled, right, slider, pill };
})();

(() => {
  const { define, fix, axes, path, dot, words, level, hills, sorted, fooled, right } = Scene;
  const K = 10, betas = Array.from({ length: K + 1 }, (_, k) => k / K);
  const wholeAis = (v, seed) => {
    const m = Hills.model(v.base, v.apart), chains = Hills.ais(m, v.steps, 200, Hills.random(seed));
    return { m, chains, found: Hills.summary(chains) };
  };
  const bars = (box, heights, { X, Y }, kind) => heights.map((h, k) =>
    `<rect class="${kind}" x="${(X(betas[k]) - box.w / 40).toFixed(1)}" width="${(box.w / 20).toFixed(1)}" y="${Math.min(Y(h), Y(0)).toFixed(1)}" height="${Math.abs(Y(0) - Y(h)).toFixed(1)}"/>`).join("");

  define("start", {
    height: (width, open) => (width < 560 && !open ? 240 : undefined),
    start: { base: -2, apart: 2, steps: 30 }, seed: 140, dials: { base: {}, apart: {}, steps: {} },
    label: "200 estimates of log Z in order, many of them on one level, and the two hills that they look for",
    run: wholeAis,
    draw: (d, v, { left, right: box }, open) => (open
      ? hills(left, d.m, d.chains.map((c) => [c.x, 2.2, right(c.w)])) + sorted(box, d.chains, d.found, true)
      : sorted({ ...box, x: left.x, y: left.y, w: Math.max(box.x + box.w - left.x, box.w), h: box.h }, d.chains)),
    says: ({ found, chains }) => (fooled(found)
      ? `<b class="off">${found.agree} of 200 chains agree on a wrong value</b>, ${fix(found.low, 1)} nats too low. ${found.ess < 100 ? `Nothing in these ${found.agree} chains reveals it; the run's effective sample size, ${fix(found.ess, 0)} of 200, does` : "Nothing in the run reveals it"}. `
      : found.ess < 100
        ? `<b class="off">The chains disagree</b>: ${fix(found.ess, 0)} of 200 carry the estimate ${fix(found.logZ)} (exact 20). A check can see this. `
        : `<b class="on">The chains agree on the right value</b>: ${fix(found.ess, 0)} of 200 count, and the estimate is ${fix(found.logZ)} (exact 20). `)
      + `${chains.filter((c) => c.x < 0).length} end on the small hill.`,
  });

  define("mcmc_basics", {
    start: { apart: 3, sweeps: 2000, width: 0.7 },
    dials: { apart: {}, sweeps: { values: [200, 500, 1000, 2000, 5000, 20000] },
      width: { text: "Width of a proposal", values: [0.1, 0.3, 0.7, 1.5, 3, 6] } },
    label: "Where a chain is, step by step, beside the two hills that it should visit",
    run(v, seed) {
      const m = Hills.model(-v.apart, v.apart), rng = Hills.random(seed), kept = [];
      let x = -v.apart, onLarge = 0, crossed = 0, side = -1;
      for (let t = 0; t < v.sweeps; t++) {
        x = Hills.move(m, x, 1, rng, v.width);
        if (x > 0) onLarge += 1;
        const now = x > v.apart / 2 ? 1 : x < -v.apart / 2 ? -1 : side;
        if (now !== side) crossed += 1;
        side = now;
        if (t % Math.ceil(v.sweeps / 400) === 0) kept.push([t, x]);
      }
      return { m, kept, onLarge: onLarge / v.sweeps, crossed };
    },
    draw(d, v, { left, right: box }, open) {
      const { X, Y, svg } = axes(box, [0, v.sweeps], [-Scene.REACH, Scene.REACH], "step", open ? "where the chain is" : "?");
      return hills(left, d.m, [[-v.apart, 5, "orange"]]) + svg + (open ? path(d.kept.map(([t, x]) => [X(t), Y(x)]), "line orange") : "");
    },
    says: (d, v) => `In ${v.sweeps.toLocaleString("en")} steps, the chain spent ${fix(100 * d.onLarge, 1)}% of its time on the large hill, `
      + `which holds 99.97% of the area. It changed hills ${d.crossed === 1 ? "once" : `${d.crossed} times`}.`,
  });

  define("ais", {
    picks: [{ base: -2 }, { base: 0 }, { base: 2 }],
    start: { base: -2, apart: 2, steps: 30 }, seed: 140, dials: { base: {}, apart: {}, steps: {} },
    label: "Two hills with 200 chains as dots, whose areas are their weights, and their log-weights in order",
    run: wholeAis,
    draw(d, v, { left, right: box }, open) {
      const top = Math.max(...d.chains.map((c) => c.w));
      const dots = d.chains.map((c) => [c.x, Math.max(1.2, 9 * Math.exp((c.w - top) / 2)).toFixed(1), right(c.w)]);
      return hills(left, d.m, open ? dots : []) + sorted(box, d.chains, d.found, open);
    },
    says: ({ found, chains }) => `The logarithm of the mean weight is ${fix(found.logZ)}, and the mean of the logarithms is ${fix(Hills.mean(chains.map((c) => c.w)))}. `
      + `The exact log Z is 20. ${fix(found.ess, 0)} of 200 chains carry the estimate.`,
  });

  define("bracket", {
    start: { base: 0, apart: 2, steps: 8 }, dials: { base: {}, apart: {}, steps: { values: [1, 2, 3, 5, 8, 12, 20, 40, 80] } },
    label: "Two hills, and two histograms of log-weights, of chains on the way up and of chains on the way down",
    run(v, seed) {
      const m = Hills.model(v.base, v.apart), rng = Hills.random(seed), n = 2000;
      const up = Hills.ais(m, v.steps, n, rng).map((c) => c.w);
      const down = Hills.reverse(m, v.steps, Array.from({ length: n }, () => m.draw(rng)), rng).map((c) => c.w);
      return { m, up, down };
    },
    draw(d, v, { left, right: box }, open) {
      const count = (ws) => Array.from({ length: 36 }, (_, i) => ws.filter((w) => w >= 8 + i / 2 && w < 8.5 + i / 2).length / ws.length);
      const up = count(d.up), down = count(d.down);
      const { X, Y, svg } = axes(box, [8, 26], [0, Math.max(...up, ...down)], "log-weight (nats)", open ? "share of chains: blue goes up, orange comes down" : "share of chains on the way up");
      const outline = (shares, kind) => path(shares.flatMap((s, i) => [[X(8 + i / 2), Y(s)], [X(8.5 + i / 2), Y(s)]]), `line ${kind}`);
      return hills(left, d.m) + svg + outline(up, "blue") + (open ? outline(down, "orange")
        + path([[X(Hills.LOGZ), box.y], [X(Hills.LOGZ), box.y + box.h]], "truth") + words(X(Hills.LOGZ) + 5, box.y + 10, "log Z", "start") : "");
    },
    says: ({ up, down }) => `The mean log-weight is ${fix(Hills.mean(up))} on the way up and ${fix(Hills.mean(down))} on the way down, and log Z, 20, lies between. `
      + `The logarithm of the mean weight on the way up is ${fix(Hills.logMeanExp(up))}.`,
  });

  define("varopt", {
    random: false,
    start: { base: -3, apart: 3, steps: 12, placed: 1 },
    dials: { base: {}, apart: {}, placed: { text: "0: equal steps, 1: equal areas", min: 0, max: 2, step: 0.1, shows: (x) => fix(x, 1) },
      steps: { values: [4, 6, 8, 12, 20, 30] } },
    label: "How much the slopes of chains differ along the way, cut into steps",
    run(v) {
      const m = Hills.model(v.base, v.apart), grid = Array.from({ length: 101 }, (_, i) => i / 100);
      const sd = grid.map((b) => m.slopes(b).sd), area = [0];
      for (let i = 1; i <= 100; i++) area.push(area[i - 1] + (sd[i] + sd[i - 1]) / 200);
      const equal = Array.from({ length: v.steps + 1 }, (_, k) => k / v.steps);
      const areas = equal.map((part) => {
        const i = Math.max(1, area.findIndex((a) => a >= area[100] * part - 1e-12));
        return (i - 1 + (area[100] * part - area[i - 1]) / (area[i] - area[i - 1] || 1)) / 100;
      });
      const sizes = areas.slice(1).map((b, k) => (b - areas[k]) ** v.placed), whole = Hills.mean(sizes) * v.steps;
      const cut = sizes.reduce((ends, size) => [...ends, ends[ends.length - 1] + size / whole], [0]);
      const below = (b) => {
        const i = Math.min(99, Math.floor(100 * b));
        return area[i] + (100 * b - i) * (area[i + 1] - area[i]);
      };
      const cost = (ends) => ends.slice(1).reduce((sum, b, k) => sum + (below(b) - below(ends[k])) ** 2, 0);
      return { m, grid, sd, cut, equal: cost(equal), now: cost(cut), best: cost(areas) };
    },
    draw(d, v, { left, right: box }, open) {
      const { X, Y, svg } = axes(box, [0, 1], [0, 1.1 * Math.max(...d.sd)], "from the base (0) to the hills (1)",
        open ? "how much the slopes of chains differ" : "?");
      return hills(left, d.m) + svg + (open ? d.cut.map((b) => path([[X(b), Y(0)],
        [X(b), Y(d.sd[Math.min(100, Math.round(100 * b))])]], "line orange")).join("") + path(d.grid.map((b, i) => [X(b), Y(d.sd[i])]), "line ink") : "");
    },
    says: (d) => `If chains forget at once, the variance of log w is ${fix(d.now)}. With equal steps, it is ${fix(d.equal)}. If all strips have the same area, it has its smallest value, ${fix(d.best)}.`,
  });

  define("rts", {
    start: { base: 0, apart: 2, sweeps: 1000, wrong: -3 },
    dials: { wrong: { text: "Guess at the hills is off by", min: -6, max: 6, step: 0.5, shows: (x) => fix(x, 1) }, apart: {},
      sweeps: { values: [200, 500, 1000, 2000, 5000] } },
    label: "How often a wandering chain visits each place between the base and the hills",
    run(v, seed) {
      const m = Hills.model(v.base, v.apart), visits = betas.map(() => 0), trace = [];
      const guess = betas.map((b) => m.logZ(b) + v.wrong * b);
      const [chain] = Hills.temper(m, { rungs: K, sweeps: v.sweeps, starts: [[v.base, 0]], guess,
        seen: (x, k) => { visits[k] += 1 / v.sweeps; trace.push([x, k]); } }, Hills.random(seed));
      return { m, visits, chain, trace: trace.slice(-300) };
    },
    draw(d, v, { left, right: box }, open) {
      const a = axes(box, [-0.05, 1.05], [0, open ? Math.max(0.2, ...d.visits) : 0.3], "from the base (0) to the hills (1)",
        open ? "share of the sweeps" : "?");
      return hills(left, d.m, open ? d.trace.filter(([, k]) => k === K).map(([x]) => [x, 2.2, "orange"]) : []) + a.svg
        + (open ? bars(box, d.visits, a, "bar blue") + level(box, a.Y(1 / (K + 1)), "truth") : "");
    },
    says: (d, v) => `The guess was ${fix(Hills.LOGZ + v.wrong, 1)}. The visits correct it to ${fix(d.chain.logZ)} (exact: 20). `
      + `The number of round trips between base and hills is ${fix(d.chain.trips, 0)}.`,
  });

  define("sams", {
    start: { base: 0, apart: 2, sweeps: 50 }, dials: { base: {}, apart: {}, sweeps: { values: [5, 20, 50, 100, 200, 500, 1000, 3000] } },
    label: "The guesses of a chain that begins with none, beside the exact values",
    run(v, seed) {
      const m = Hills.model(v.base, v.apart), visits = betas.map(() => 0);
      const [chain] = Hills.temper(m, { rungs: K, sweeps: v.sweeps, starts: [[v.base, 0]], guess: betas.map(() => 0),
        learn: Hills.gains(100), seen: (x, k) => { visits[k] += 1; } }, Hills.random(seed));
      return { m, chain, visits, exact: betas.map((b) => m.logZ(b)) };
    },
    draw(d, v, { left, right: box }, open) {
      const values = [...d.exact, ...d.chain.guess];
      const a = axes(box, [-0.05, 1.05], [Math.min(-1, ...values), Math.max(21, ...values)], "from the base (0) to the hills (1)",
        "log Z (nats)");
      return hills(left, d.m) + a.svg + path(d.exact.map((z, k) => [a.X(betas[k]), a.Y(z)]), "truth")
        + (open ? bars(box, d.chain.guess, a, "bar blue") : "");
    },
    says: (d, v) => `After ${v.sweeps.toLocaleString("en")} sweeps, the guess at the hills is ${fix(d.chain.guess[K])} (exact, dashed: ${fix(d.exact[K])}). `
      + `The numbers of visits, from the base to the hills, are ${d.visits.join(" ")}.`,
  });

  /* the bound of one Gaussian q: E_q[log p* - log q], and where a search for its top ends */
  function bound(m, mean, width) {
    let sum = 0;
    for (const x of Hills.grid) {
      const q = Hills.gauss(x, mean, width);
      sum += (Math.exp(q) * (m.target(x) - q)) / 40;
    }
    return sum;
  }
  define("tap", {
    random: false,
    start: { base: -2, apart: 2 },
    dials: { base: { text: "The search begins at" }, apart: {} },
    label: "Two hills and the one Gaussian that a search for the best bound ends at",
    run(v) {
      const m = Hills.model(v.base, v.apart);
      let mean = v.base, width = Hills.WIDTH, here = bound(m, mean, width);
      for (let step = 0.4; step > 0.004; ) {
        const next = [[mean + step, width], [mean - step, width], [mean, width * (1 + step)], [mean, width / (1 + step)]]
          .map(([a, s]) => [bound(m, a, s), a, s]).sort((p, q) => q[0] - p[0])[0];
        if (next[0] > here) [here, mean, width] = next;
        else step /= 2;
      }
      const along = Array.from({ length: 105 }, (_, i) => -Scene.REACH + i / 10);
      return { m, mean, width, here, along, bounds: along.map((a) => bound(m, a, Hills.WIDTH)) };
    },
    draw(d, v, { left, right: box }, open) {
      const { X, Y, svg } = axes(box, [-Scene.REACH, Scene.REACH], [-20, 22], "middle of the one Gaussian", "bound on log Z (nats)");
      return hills(left, d.m, open ? [[d.mean, 5, "orange"]] : [], "two hills, and the Gaussian at first") + svg + words(box.x + box.w, Y(Hills.LOGZ) - 7, "log Z", "end") + level(box, Y(Hills.LOGZ), "truth")
        + (open ? path(d.along.map((a, i) => [X(a), Math.min(Y(d.bounds[i]), box.y + box.h)]), "line ink") + dot(X(d.mean), Y(d.here), 5, "orange")
          + dot(X(v.base), Y(Math.max(-20, bound(d.m, v.base, Hills.WIDTH))), 4, "grey") : "");
    },
    says: (d) => `The search ends at ${fix(d.mean)} with a bound of ${fix(d.here)}, but log Z is 20. The bound lacks the hill that the search did not choose.`,
  });

  define("tracking", {
    height: (width) => (width < 560 ? 240 : undefined),
    start: { gain: 0.03, speed: 0.05 },
    dials: { gain: { text: "Step size", values: [0.01, 0.03, 0.1, 0.3, 1] }, speed: { text: "log Z rises, an update, by", values: [0, 0.02, 0.05, 0.1] } },
    label: "log Z of a model that learns, what single updates say of it, and a line through them",
    run(v, seed) {
      const rng = Hills.random(seed), truth = [], seen = [], line = [];
      for (let t = 0; t < 300; t++) {
        truth.push(12 + v.speed * Math.min(t, 200));
        seen.push(truth[t] + 1.2 * rng.normal());
        line.push(t ? line[t - 1] + v.gain * (seen[t] - line[t - 1]) : seen[0]);
      }
      const off = line.map((y, t) => y - truth[t]).slice(100, 200), lag = Hills.mean(off);
      return { m: Hills.model(0, 2), truth, seen, line, lag, noise: Math.sqrt(Hills.mean(off.map((e) => (e - lag) ** 2))) };
    },
    draw(d, v, { left, right: box }, open) {
      const wide = { ...box, x: left.x, y: left.y, w: Math.max(box.x + box.w - left.x, box.w) };
      const { X, Y, svg } = axes(wide, [0, 300], [8, 34], "update", "log Z (nats)");
      return svg + d.seen.map((y, t) => dot(X(t), Y(y), 1.8, "grey")).join("")
        + (open ? path(d.truth.map((y, t) => [X(t), Y(y)]), "truth") + path(d.line.map((y, t) => [X(t), Y(y)]), "line orange") : "");
    },
    says: (d) => `While log Z rises, the line is ${fix(Math.abs(d.lag))} nats ${d.lag < 0 ? "behind" : "ahead"}, and its noise is ${fix(d.noise)} nats.`,
  });

  /* a move without a test of acceptance: drift up the hill and noise, a little wrong at each step */
  function unadjusted(m, x, beta, rng, size) {
    const d = (m.at(x + 1e-3, beta) - m.at(x - 1e-3, beta)) / 2e-3;
    return x + 0.5 * size * size * d + size * rng.normal();
  }
  define("leaky_rbm", {
    start: { size: 0.5, steps: 300 }, seed: 5,
    dials: { size: { text: "Size of a move", values: [0.1, 0.2, 0.3, 0.5, 0.6] }, steps: { values: [10, 30, 100, 300] } },
    label: "Error of log Z against the number of steps, with a move that fits the model and with one that does not",
    run(v, seed) {
      const m = Hills.model(2, 2), counts = [10, 30, 100, 300].filter((n) => n <= v.steps);
      const error = (wrong) => counts.map((n) => {
        const rng = Hills.random(seed), logs = [];
        for (let i = 0; i < 2000; i++) {
          let x = m.base + Hills.SIGMA * rng.normal(), w = 0;
          for (let k = 1; k <= n; k++) {
            w += m.slope(x) / n;
            x = wrong ? unadjusted(m, x, k / n, rng, v.size) : Hills.move(m, x, k / n, rng);
          }
          logs.push(w);
        }
        return Hills.logMeanExp(logs) - Hills.LOGZ;
      });
      return { m, counts, wrong: error(true), good: error(false) };
    },
    draw(d, v, { left, right: box }, open) {
      const lowest = Math.min(-0.1, ...d.wrong, ...d.good);
      const { X, Y, svg } = axes(box, [0.8, 2.7], [1.2 * lowest, 0.06], "logarithm of the number of steps (base 10)", open ? "error of log Z (nats)" : "?");
      const line = (values, kind) => path(values.map((e, i) => [X(Math.log10(d.counts[i])), Y(e)]), `line ${kind}`)
        + values.map((e, i) => dot(X(Math.log10(d.counts[i])), Y(e), 4, kind)).join("");
      return hills(left, d.m) + svg + level(box, Y(0), "truth") + (open ? line(d.wrong, "orange") + line(d.good, "blue") : "");
    },
    says: (d, v) => `With ${v.steps} steps, the error is ${fix(d.wrong[d.wrong.length - 1], 3)} nats with the wrong move (orange) and ${fix(d.good[d.good.length - 1], 3)} nats with the right one (blue).`,
  });

  define("rts_continuous", {
    start: { size: 1, apart: 2 },
    dials: { size: { text: "Length of a leapfrog step", values: [0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.6] }, apart: {} },
    label: "How many moves of eight leapfrog steps are accepted, along the way from the base to the hills",
    run(v, seed) {
      const m = Hills.model(0, v.apart), rng = Hills.random(seed);
      const pull = (x, b) => (m.at(x + 1e-3, b) - m.at(x - 1e-3, b)) / 2e-3;
      const shares = betas.map((b) => {
        let x = v.apart, taken = 0;
        for (let t = 0; t < 300; t++) {
          let y = x, p = rng.normal();
          const before = m.at(x, b) - p * p / 2;
          p += 0.5 * v.size * pull(y, b);
          for (let l = 0; l < 8; l++) { y += v.size * p; p += (l < 7 ? 1 : 0.5) * v.size * pull(y, b); }
          if (Math.log(1 - rng.uniform()) < m.at(y, b) - p * p / 2 - before) { x = y; taken += 1; }
        }
        return taken / 300;
      });
      return { m, shares };
    },
    draw(d, v, { left, right: box }, open) {
      const a = axes(box, [-0.05, 1.05], [0, 1], "from the base (0) to the hills (1)", open ? "share of moves accepted" : "?");
      return hills(left, d.m) + a.svg + (open ? bars(box, d.shares, a, "bar blue") : "");
    },
    says: (d) => `${fix(100 * d.shares[0], 0)}% of the moves are accepted at the base, and ${fix(100 * d.shares[K], 0)}% at the hills.`,
  });
})();

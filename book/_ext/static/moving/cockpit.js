/* Four methods side by side on the two hills, at equal sweeps: what each says, what it says of
   itself, and what a sum that no chain has a say in says of it. */
"use strict";

(() => {
  const host = document.getElementById("cockpit");
  if (!host) return;
  const { fix, tag, slider, pill } = Scene;
  const CHAINS = 200, WALKERS = 20, RUNGS = 10;
  const SETTINGS = {
    "Break it": { base: -3.6, apart: 3.6, steps: 120 },
    "A good base": { base: 2, apart: 2, steps: 120 },
    "Few steps": { base: -2, apart: 2, steps: 30 },
  };
  const value = { ...SETTINGS["A good base"] };
  let seed = 1;

  /* n of the chains, each as often as its weight says */
  function resampled(chains, n, rng) {
    const top = chains[chains.length - 1].w, sums = [];
    let sum = 0;
    for (const c of chains) sums.push((sum += Math.exp(c.w - top)));
    const first = rng.uniform();
    return Array.from({ length: n }, (_, i) => chains[sums.findIndex((s) => s >= ((i + first) / n) * sum)].x);
  }
  function spread(runs) {
    const values = runs.map((r) => r.logZ), logZ = Hills.mean(values);
    const error = Math.sqrt(Hills.mean(values.map((z) => (z - logZ) ** 2)) / (values.length - 1));
    const trips = Hills.mean(runs.map((r) => r.trips));
    return { logZ, error, good: trips >= 2, says: `${fix(trips, trips < 3 ? 1 : 0)} round trips per chain` };
  }
  const weighed = (chains, sign) => {
    const found = Hills.summary(chains.map((c) => ({ w: sign * c.w })).sort((a, b) => a.w - b.w));
    return { logZ: sign * found.logZ, error: found.error, good: found.ess >= 100,
      says: `${fix(found.ess, 0)} of ${CHAINS} chains count` };
  };

  function run() {
    const m = Hills.model(value.base, value.apart), rng = Hills.random(seed), means = [];
    const up = Hills.ais(m, value.steps, CHAINS, rng, RUNGS, means);
    const ends = resampled(up, CHAINS, rng);
    const starts = Array.from({ length: WALKERS }, (_, i) => (i % 2 ? [ends[10 * i], RUNGS] : [value.base, 0]));
    const sweeps = (CHAINS / WALKERS) * value.steps;
    return { truth: Hills.LOGZ, sum: Hills.foundBySearch(m), rows: {
      AIS: weighed(up, 1),
      "reverse AIS": weighed(Hills.reverse(m, value.steps, ends, rng), -1),
      RTS: spread(Hills.temper(m, { rungs: RUNGS, sweeps, starts, guess: means }, rng)),
      SAMS: spread(Hills.temper(m, { rungs: RUNGS, sweeps, starts: starts.map(() => [value.base, 0]),
        guess: means.map(() => 0), learn: Hills.gains(sweeps / 4) }, rng)),
    } };
  }

  function opinion({ logZ, error }, sum) {
    if (sum.logZ > logZ + 2 * error) return ["off", `contradicted: a sum over ${sum.hills} hills lies ${fix(sum.logZ - logZ, logZ > sum.logZ - 1 ? 2 : 1)} above`];
    return Math.exp(sum.logZ - logZ) >= 0.9 ? ["on", "agrees"] : ["", `open: holds ${fix(100 * Math.exp(sum.logZ - logZ), 0)}%`];
  }
  function strip({ logZ, error }, truth) {
    const X = (z) => 4 + 192 * Math.max(0, Math.min(1, (z - 9) / 14)), colour = Math.abs(logZ - truth) < Math.max(0.3, 3 * error) ? "blue" : "orange";
    return `<svg viewBox="0 0 200 24" aria-hidden="true"><path class="grid" d="M4 12H196"/><path class="truth" d="M${X(truth)} 2V22"/>`
      + `<path class="line ${colour}" d="M${X(logZ - 2 * error)} 12H${X(logZ + 2 * error)}"/><circle class="${colour}" cx="${X(logZ)}" cy="12" r="5"/></svg>`;
  }

  const body = tag("tbody"), says = tag("p", { className: "scene-says" });
  says.setAttribute("role", "status");
  const table = tag("table", { className: "cockpit-table" });
  table.innerHTML = "<thead><tr><th scope='col'>method</th><th scope='col'>from 9 to 23 nats; dashed: exact</th><th scope='col'>log Z</th><th scope='col'>of itself</th><th scope='col'>independent check</th></tr></thead>";
  table.append(body);
  const bar = tag("div", { className: "scene-bar" }), inputs = {};
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Dials of the cockpit");
  for (const name of ["base", "apart", "steps"]) inputs[name] = slider(bar, name, {}, value, draw);
  for (const [name, setting] of Object.entries(SETTINGS)) pill(bar, name, () => { Object.assign(value, setting); draw(); });
  pill(bar, "Other random numbers", () => { seed += 1; draw(); });

  function draw() {
    const { truth, sum, rows } = run();
    Object.values(inputs).forEach((show) => show());
    body.innerHTML = Object.entries(rows).map(([name, r]) => {
      const [kind, text] = opinion(r, sum);
      return `<tr><th scope="row">${name}</th><td data-label="from 9 to 23 nats; dashed: exact">${strip(r, truth)}</td><td data-label="log Z">${fix(r.logZ)} ± ${fix(r.error)}</td>`
        + `<td data-label="of itself"><span class="${r.good ? "on" : "off"}">${r.good ? "trusts" : "doubts"}</span>: ${r.says}</td>`
        + `<td data-label="independent check"><span class="${kind}">${text}</span></td></tr>`;
    }).join("");
    const wrong = Object.values(rows).filter((r) => Math.abs(r.logZ - truth) > Math.max(0.3, 3 * r.error));
    const fooled = wrong.filter((r) => r.good).length;
    says.textContent = wrong.length === 0 ? "All four are right, within their error bars."
      : `${wrong.length} of 4 are wrong, and ${fooled} of these trust${fooled === 1 ? "s itself" : " themselves"}.`;
  }
  host.querySelector(".cockpit-still")?.remove();
  host.append(says, table, bar);
  draw();
})();

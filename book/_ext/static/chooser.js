/* Which estimator: one question at a time. Without this file it is a table, from which all texts are taken. */
"use strict";
for (const root of document.querySelectorAll(".chooser")) {
  const table = root.querySelector("table"), all = root.querySelector(".ch-all");
  const row = (name) => root.querySelector(`tr[id="choose-${name}"]`);
  const body = (name) => root.querySelector(`tbody[id="choose-${name}"]`);
  const element = (tag, of = {}, inside = "") => {
    const made = Object.assign(document.createElement(tag), of);
    made.innerHTML = inside;
    return made;
  };
  const live = element("div", { className: "ch-live" });
  const given = element("ol", { className: "ch-given" }), now = element("div");
  live.append(given, now);
  root.prepend(live);
  let undo = [];   // brings home what is shown of an end

  /* answers that lead to a question or an end from outside: rows of the table, the first one first */
  function way(name) {
    const found = [];
    for (let to = name; to !== root.dataset.first;) {
      const answer = row(to) || root.querySelector(`tr[data-to="${to}"]`);
      found.unshift(answer);
      to = answer.closest("tbody").id.replace("choose-", "");
    }
    return found;
  }
  const asked = (tbody) => tbody.querySelector(".ch-asks th").innerHTML;

  const code = (answer) => answer.nextElementSibling?.querySelector(":scope > td > .ch-code");

  function home() {
    for (const step of undo) step();
    undo = [];
  }
  function show(name, taken, focus = true) {
    home();
    given.replaceChildren(...taken.map((answer, i) => {
      const tbody = answer.closest("tbody"), item = element("li");
      const back = element("button", { type: "button" }, `${asked(tbody)} <b>${answer.querySelector("th").innerHTML}</b>`);
      back.addEventListener("click", () => show(tbody.id.replace("choose-", ""), taken.slice(0, i)));
      item.append(back);
      return item;
    }));
    const end = row(name), title = element("h2", { tabIndex: -1 });
    now.replaceChildren(title);
    if (end) {
      title.innerHTML = end.querySelector(".ch-use").innerHTML;
      const first = taken.filter((answer) => answer !== end).map(code).filter(Boolean);
      const made = element("span", {}, first.map((part) => part.querySelector("pre").innerHTML).join(""));
      const shown = code(end);
      shown.querySelector("pre").prepend(made);   // the model before what is done with it
      undo.push(() => made.remove());
      for (const part of [shown, end.querySelector(".ch-why")]) {
        const place = part.parentElement;
        undo.push(() => place.append(part));
        now.append(part);
      }
    } else {
      title.innerHTML = asked(body(name));
      const answers = element("div", { className: "ch-answers" });
      for (const answer of body(name).querySelectorAll("tr[id], tr[data-to]")) {
        const button = element("button", { type: "button", className: "pill" }, answer.querySelector("th").innerHTML);
        const to = answer.dataset.to || answer.id.replace("choose-", "");
        button.addEventListener("click", () => show(to, [...taken, answer]));
        answers.append(button);
      }
      now.append(answers);
    }
    if (focus) {   // and the address leads here
      history.replaceState(null, "", taken.length ? `#choose-${name}` : location.pathname);
      title.focus({ preventScroll: true });
      title.scrollIntoView({ block: "nearest" });
    }
  }
  function whole(yes) {
    all.setAttribute("aria-pressed", yes);
    table.hidden = !yes;
    live.hidden = yes;
    if (yes) home(); else show(root.dataset.first, [], false);
  }
  function go() {   // links from outside
    const name = location.hash.replace("#choose-", "");
    if (all.getAttribute("aria-pressed") === "true" || !location.hash || !(row(name) || body(name))) return;
    show(name, way(name), false);
    live.scrollIntoView({ block: "center" });
  }
  all.hidden = false;
  all.addEventListener("click", () => whole(all.getAttribute("aria-pressed") !== "true"));
  window.addEventListener("hashchange", go);
  whole(false);
  go();
}

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
  const chosen = {};   // the answer that was given, where several lead to one question
  let away = [];   // what is shown of an end, and where it is at home

  /* the answers that lead to a question or an end: rows of the table, the first one first */
  function way(name) {
    const found = [];
    for (let to = name; to !== root.dataset.first;) {
      const answer = row(to) || chosen[to] || root.querySelector(`tr[data-to="${to}"]`);
      found.unshift(answer);
      to = answer.closest("tbody").id.replace("choose-", "");
    }
    return found;
  }
  const asked = (tbody) => tbody.querySelector(".ch-asks th").innerHTML;

  function home() {
    for (const [part, place] of away) place.append(part);
    away = [];
  }
  function show(name, focus = true) {
    home();
    given.replaceChildren(...way(name).map((answer) => {
      const tbody = answer.closest("tbody"), item = element("li");
      const back = element("button", { type: "button" }, `${asked(tbody)} <b>${answer.querySelector("th").innerHTML}</b>`);
      back.addEventListener("click", () => show(tbody.id.replace("choose-", "")));
      item.append(back);
      return item;
    }));
    const end = row(name), title = element("h2", { tabIndex: -1 });
    now.replaceChildren(title);
    if (end) {
      title.innerHTML = end.querySelector(".ch-use").innerHTML;
      for (const part of [end.nextElementSibling.querySelector(".ch-code"), end.querySelector(".ch-why")]) {
        away.push([part, part.parentElement]);
        now.append(part);
      }
    } else {
      title.innerHTML = asked(body(name));
      const answers = element("div", { className: "ch-answers" });
      for (const answer of body(name).querySelectorAll("tr[id], tr[data-to]")) {
        const button = element("button", { type: "button", className: "pill" }, answer.querySelector("th").innerHTML);
        button.addEventListener("click", () => {
          if (answer.dataset.to) chosen[answer.dataset.to] = answer;
          show(answer.dataset.to || answer.id.replace("choose-", ""));
        });
        answers.append(button);
      }
      now.append(answers);
    }
    if (focus) {   // and the address leads here
      history.replaceState(null, "", way(name).length ? `#choose-${name}` : location.pathname);
      title.focus({ preventScroll: true });
      title.scrollIntoView({ block: "nearest" });
    }
  }
  function whole(yes) {
    all.setAttribute("aria-pressed", yes);
    table.hidden = !yes;
    live.hidden = yes;
    if (yes) home(); else show(root.dataset.first, false);
  }
  function go() {   // links from outside
    const name = location.hash.replace("#choose-", "");
    if (all.getAttribute("aria-pressed") === "true" || !location.hash || !(row(name) || body(name))) return;
    show(name, false);
    live.scrollIntoView({ block: "center" });
  }
  all.hidden = false;
  all.addEventListener("click", () => whole(all.getAttribute("aria-pressed") !== "true"));
  window.addEventListener("hashchange", go);
  whole(false);
  go();
}

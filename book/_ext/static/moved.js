/* From an address that a claim had to its card of today (claims_at.js), and from a page that moved to where it is. */
"use strict";
(() => {
  const to = document.currentScript.dataset.to, hash = location.hash.slice(1);
  const begin = Object.keys(cells).find((x) => hash.startsWith(x));
  const card = at[hash] ?? (begin && !document.getElementById(hash) && cells[begin]);
  if (card || to) location.replace(card ?? (hash ? to.replace(/#.*/, "") + location.hash : to));
})();

/* The switch under the title of a page with code. Without this file the code is simply shown. And the
   keyboard reaches code that scrolls in what was folded when the theme looked for it. */
"use strict";
for (const button of document.querySelectorAll(".page-tools button")) {
  const article = button.closest("article");
  button.hidden = false;
  button.addEventListener("click", () => {
    const off = article.classList.toggle("no-code");
    button.setAttribute("aria-pressed", off);
  });
}
document.addEventListener("toggle", (event) => {
  for (const pre of event.target.querySelectorAll("pre"))
    if (pre.scrollWidth > pre.clientWidth) pre.tabIndex = 0;
}, true);

/* The switch under the title of a page with code. Without this file the code is simply shown. */
"use strict";
for (const button of document.querySelectorAll(".page-tools button")) {
  const article = button.closest("article");
  button.hidden = false;
  button.addEventListener("click", () => {
    const off = article.classList.toggle("no-code");
    button.setAttribute("aria-pressed", off);
  });
}

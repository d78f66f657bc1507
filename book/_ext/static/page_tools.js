/* The switch under the title of a page with code. Without this file the code is simply shown. And the
   keyboard reaches code that scrolls, in what was folded when the page was loaded too. */
"use strict";
for (const button of document.querySelectorAll(".page-tools button")) {
  const article = button.closest("article");
  button.hidden = false;
  button.addEventListener("click", () => {
    const off = article.classList.toggle("no-code");
    button.setAttribute("aria-pressed", off);
  });
  if (location.pathname.includes("/check/")) button.click(); // tables and verdicts are read there
}
const reached = new ResizeObserver((entries) => {
  for (const { target } of entries) target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
});
for (const pre of document.querySelectorAll("pre")) reached.observe(pre);

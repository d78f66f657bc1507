/* The switch under the title of a page with code. Without this file the code is simply shown. And the
   keyboard reaches code that scrolls, in what was folded when the page was loaded too. */
"use strict";
for (const button of document.querySelectorAll(".page-tools button")) {
  const article = button.closest("article");
  const press = (hides) => {
    article.classList.toggle("no-code", hides);
    button.textContent = hides ? "Show the code" : "Hide the code";
  };
  button.hidden = false;
  button.addEventListener("click", () => press(button.textContent === "Hide the code"));
  press(button.textContent === "Show the code");
}
const reached = new ResizeObserver((entries) => {
  for (const { target } of entries) target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
});
for (const pre of document.querySelectorAll("pre")) reached.observe(pre);

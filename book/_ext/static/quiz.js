/* Questions with letters: a press says at once whether a letter is right, and why. Without this file
   the question and its folded solution are there. */
"use strict";
for (const quiz of document.querySelectorAll(".quiz")) {
  const says = document.createElement("p");
  says.setAttribute("role", "status");
  quiz.append(says);
  quiz.hidden = false;
  const buttons = [...quiz.querySelectorAll("button")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const right = button.dataset.right === "1";
      for (const one of buttons) {
        one.classList.remove("good", "bad");
        one.setAttribute("aria-pressed", String(one === button));
      }
      button.classList.add(right ? "good" : "bad");
      says.textContent = `(${button.textContent}) ${right ? "Right." : "Not yet:"} ${button.dataset.why}`;
    });
  }
}

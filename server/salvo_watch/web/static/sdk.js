// Copies a line to type. Without https a browser offers no clipboard: then the line is selected.

import { say } from "./dom.js";

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.firstElementChild;
    const selection = getSelection();
    selection.selectAllChildren(code);
    let copied = false;
    try {
      await navigator.clipboard.writeText(code.textContent);
      copied = true;
    } catch {
      copied = document.execCommand("copy");
    }
    say(button.lastElementChild, copied ? "Copied" : "Selected");
    button.classList.add("done");
    setTimeout(() => {
      say(button.lastElementChild, "Copy");
      button.classList.remove("done");
    }, 2000);
  });
}

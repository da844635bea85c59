"use strict";
// Filters the list of a site as one types; without it the list is whole.
(() => {
  const form = document.querySelector(".filter");
  const days = [...document.querySelectorAll(".day")];
  const lines = [...document.querySelectorAll(".games li")].map((item) => [item, item.textContent.toLowerCase()]);
  const count = document.getElementById("count");
  const all = count.textContent;

  function filter() {
    const words = form.elements.text.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const [item, text] of lines) {
      item.hidden = !words.every((word) => text.includes(word));
      shown += !item.hidden;
    }
    for (const day of days) day.hidden = !day.querySelector("li:not([hidden])");
    count.textContent = shown === lines.length ? all : `${shown} of ${all}`;
  }

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter(); // a browser keeps what was typed when it comes back
})();

// The director goes from table to table: every twenty seconds to the next game, and at once to a defeat or an end.

import { atKey, byName, find } from "./dom.js";
import { live } from "./live.js";

const STAY_MS = 20_000;
const LEAST_MS = 4000;

// Shows tables with `watch` until the page is left.
export function director(watch) {
  let here = null;
  let since = 0;
  let held = false;
  let tables = [];
  let told = new Map(); // by table: how many are out, and whether it is over

  function show(table) {
    since = performance.now();
    if (here === table) return;
    here = table;
    watch(table);
  }

  const toldOf = ({ state, players }) => ({ out: players.filter(({ out }) => out).length, over: state === "over" });
  const isNews = (table) => {
    const before = told.get(table.table);
    const now = toldOf(table);
    return before && ((now.over && !before.over) || (now.out > before.out && !now.over));
  };

  function next() {
    const running = tables.filter(({ state }) => state === "turn");
    const choice = (running.length ? running : tables).map(({ table }) => table).sort(byName);
    if (!choice.length) return here === null && show("");
    const at = choice.findIndex((table) => here !== null && byName(table, here) > 0);
    show(choice[Math.max(0, at)]);
  }

  live(
    undefined,
    (overview) => {
      tables = overview.tables;
      const news = tables.find(isNews);
      told = new Map(tables.map((table) => [table.table, toldOf(table)]));
      if (here === null) next();
      else if (news && !held && performance.now() - since > LEAST_MS) show(news.table);
    },
    () => {}, // the table's own stream says so
  );
  setInterval(() => !held && performance.now() - since > STAY_MS && next(), 500);

  const button = find("hold");
  button.hidden = false;
  atKey("h", button, () => {
    held = !held;
    button.setAttribute("aria-pressed", held);
    since = performance.now();
  });
  return { show };
}

// Where boards stand: everybody fits, nothing scrolls.

const GAP = 12;
const FEW = 3; // boards that are all large, beside each other
const STABLE = 6; // from here on the gallery has everybody at a place of their own, also who is large
const LARGE = 0.8; // of the width, at most, for the large boards beside a gallery
const LARGE_AMONG_MANY = 0.7; // beside a gallery of everybody, whose names need room
const BESIDE = 3.6; // lines of a large board's tile: who it is above, ships and figures below
export const CROWD = 8; // more than these: the two large ones stand above each other, and the others have more room

// Returns who is large and who stands in the gallery, in play order; the defeated fold up, except for who has just been hit.
export function cast(picture, featured, narrow) {
  const { players, state } = picture;
  const boards = players.some(({ board }) => board !== null);
  if (narrow || !boards) return { large: [], gallery: players, fallen: [], boards };
  const there = state === "over" ? players : players.filter((player) => !player.out || featured.includes(player.name));
  const fallen = players.filter((player) => !there.includes(player));
  if (there.length <= FEW) return { large: there, gallery: [], fallen, boards };
  const large = state === "over" ? [] : featured.map((name) => there.find((player) => player.name === name)).filter(Boolean);
  const gallery = there.length < STABLE ? there.filter((player) => !large.includes(player)) : there;
  return { large, gallery, fallen, boards };
}

// The number of columns with which `count` tiles are largest: of boards as squares below a line of text, else of cards. Names want few.
function columns(count, width, height, head, boards) {
  let best = 1;
  let most = -1;
  for (let across = 1; across <= count; across += 1) {
    const wide = width / across - GAP;
    const high = height / Math.ceil(count / across) - GAP;
    const size = boards ? Math.min(wide, high - head) : Math.min(wide / 2.6, high);
    if (size > most * 1.12) [best, most] = [across, size];
  }
  return best;
}

export function arrange(stage, { large, gallery, boards }) {
  const { clientWidth: width, clientHeight: height } = stage;
  const type = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const crowd = gallery.length > CROWD;
  const mode = gallery.length ? (large.length ? (crowd ? "crowd" : "mixed") : "gallery") : "row";
  stage.dataset.mode = mode;
  const most = width * (gallery.length < STABLE ? LARGE : LARGE_AMONG_MANY);
  const share = { crowd: Math.min(0.34 * width, height / 2 - BESIDE * type), mixed: Math.min(most / Math.max(1, large.length), height - BESIDE * type) }[mode] ?? 0;
  stage.style.setProperty("--large", `${Math.round(share)}px`);
  const room = width - (mode === "mixed" ? large.length * (share + GAP) : mode === "crowd" ? share + GAP : 0);
  stage.style.setProperty("--across", columns(Math.max(1, gallery.length), room, height, 1.9 * type, boards));
}

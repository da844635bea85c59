// The shots of a salvo on their way: one after the other they fly from the shooter and fall at their cells.

import { draw } from "./dom.js";

const FLIGHT = 380; // ms
const ALL = 420; // ms between the first shot and the last
const LINGER = 250; // ms of an aim line

// Fires at points of the screen, so many times slower than usual. `land` is called for each shot, by its number, then `done`; the function that is returned ends all at once.
export function volley(sky, from, points, colour, slower, { fire, land, done }) {
  const [flight, linger] = [FLIGHT * slower, LINGER * slower];
  const gap = slower * Math.min(120, ALL / Math.max(1, points.length - 1));
  const shots = points.map((to, index) => {
    const line = draw("path", { class: `aim ${colour}` });
    const ball = draw("circle", { class: `ball ${colour}`, r: Math.max(4, innerHeight / 150), cx: from.x, cy: from.y, opacity: 0 });
    sky.append(line, ball);
    const high = Math.min(from.y, to.y) - Math.hypot(to.x - from.x, to.y - from.y) * 0.22;
    return { line, ball, to, over: { x: (from.x + to.x) / 2, y: high }, start: index * gap, fired: false, landed: false };
  });
  const began = performance.now();
  let frame = 0;
  let over = false;

  const at = ({ to, over: via }, part) => {
    const [a, b, c] = [(1 - part) ** 2, 2 * part * (1 - part), part ** 2];
    return { x: a * from.x + b * via.x + c * to.x, y: a * from.y + b * via.y + c * to.y };
  };
  const fall = (shot, index) => {
    shot.landed = true;
    shot.ball.remove();
    land(index);
  };
  function move(now) {
    let flying = false;
    shots.forEach((shot, index) => {
      const part = (now - began - shot.start) / flight;
      const gone = (now - began - shot.start - flight) / linger;
      flying ||= gone < 1;
      if (part <= 0) return;
      if (!shot.fired) {
        shot.fired = true;
        shot.ball.setAttribute("opacity", 1);
        fire(index);
      }
      if (part < 1) {
        const { x, y } = at(shot, part);
        shot.ball.setAttribute("cx", x);
        shot.ball.setAttribute("cy", y);
        const via = { x: from.x + (shot.over.x - from.x) * part, y: from.y + (shot.over.y - from.y) * part };
        shot.line.setAttribute("d", `M${from.x} ${from.y}Q${via.x} ${via.y} ${x} ${y}`);
        return;
      }
      if (!shot.landed) fall(shot, index);
      shot.line.setAttribute("opacity", Math.max(0, 1 - gone));
    });
    if (flying) frame = requestAnimationFrame(move);
    else end();
  }
  function end() {
    if (over) return;
    over = true;
    cancelAnimationFrame(frame);
    shots.forEach((shot, index) => shot.landed || fall(shot, index));
    sky.replaceChildren();
    done();
  }
  frame = requestAnimationFrame(move);
  return end;
}

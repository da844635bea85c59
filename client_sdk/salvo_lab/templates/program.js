#!/usr/bin/env node
// A bot as a program, with nothing but Node.js: it reads JSON lines and answers with JSON lines (SALVO-EXEC).
//
//     salvo play 'exec:node program.js' hunter
//
// It leaves its fleet to the server, and fires at the opponent with the most unknown cells: beside the hits first, then
// at every second cell.
'use strict';

// Unlike `require` and `import ... from`, this works in every folder, whatever type its package.json names.
import('node:readline').then(({ createInterface }) => createInterface({ input: process.stdin }).on('line', reply));

let width = 10;
let draw = () => 0;
let suspects = new Map(); // by cell beside our shots, "player x;y": the sum of their shares of hits

function reply(line) {
  const question = JSON.parse(line);
  if (question.type === 'game') { // has the rules; needs no answer
    width = question.rules.width;
    draw = generator(question.seed);
    suspects = new Map();
  } else if (question.type === 'fleet') {
    answer(question, { skip: true });
  } else if (question.type === 'turn') {
    const shots = choose(question);
    answer(question, shots.length ? { shots } : { skip: true });
  }
}

// `stays` promises that each game starts afresh: then one process quickly plays many.
function answer(question, fields) {
  console.log(JSON.stringify({ id: question.id, stays: true, ...fields }));
}

function choose(turn) {
  learn(turn.results);
  const unknown = (player) => turn.boards[player].split('.').length;
  const shots = [];
  // When a board has too few cells, fire at the next one.
  for (const player of [...turn.opponents].sort((one, other) => unknown(other) - unknown(one))) {
    const cells = [];
    [...turn.boards[player]].forEach((letter, number) => {
      const [x, y] = [number % width + 1, Math.floor(number / width) + 1];
      if (letter === '.') { // was not shot at yet
        const worth = [suspects.get(`${player} ${x};${y}`) ?? 0, (x + y) % 2, draw()];
        cells.push({ worth, shot: { player, x, y } });
      }
    });
    cells.sort(({ worth: a }, { worth: b }) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2]);
    shots.push(...cells.slice(0, turn.shots - shots.length).map((cell) => cell.shot));
  }
  return shots;
}

// Note the neighbours of our shots, by the share of the salvo that hit.
function learn(results) {
  for (const result of results) {
    (result.fired ?? []).forEach(({ player, x, y }, number) => {
      const hit = result.outcomes ? Number(result.outcomes[number]) : result.hits / result.shots;
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        const beside = `${player} ${x + dx};${y + dy}`;
        suspects.set(beside, (suspects.get(beside) ?? 0) + hit);
      }
    });
  }
}

// Math.random takes no seed; with this one the same seed is the same game.
function generator(seed) {
  let state = seed % 2147483646 + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

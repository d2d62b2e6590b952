// The rules that all these pages share; how each shows its board and takes its moves is its own.
// `truth.board` is what the page itself holds: the tests compare with it.
"use strict";

const seeded = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

const newGame = ({
  rows = 4,
  columns = 4,
  seed = 7,
  chain = false,
  farEnd = false,
  toTheEnd = false,
  spawnTile = null,
  tiles = 2,
} = {}) => {
  const random = seeded(seed);
  const board = Array.from({ length: rows }, () => new Array(columns).fill(0));
  const game = { rows, columns, board, score: 0, moves: 0, max: 0 };
  window.truth = game;

  const lines = (direction) => {
    const across = board.map((_, r) => board[0].map((_, c) => [r, c]));
    const down = board[0].map((_, c) => board.map((_, r) => [r, c]));
    const chosen = direction === "left" || direction === "right" ? across : down;
    return direction === "right" || direction === "down" ? chosen.map((line) => line.reverse()) : chosen;
  };
  const merge = (tiles) => {
    const out = [];
    let open = false;
    for (const tile of tiles) {
      if (open && out.at(-1) === tile) {
        out[out.length - 1] *= 2;
        game.score += tile * 2;
        open = chain;
      } else {
        out.push(tile);
        open = true;
      }
    }
    return toTheEnd && out.length < tiles.length ? merge(out) : out;
  };

  game.spawn = () => {
    const empty = board.flatMap((row, r) => row.flatMap((value, c) => (value ? [] : [[r, c]])));
    if (!empty.length) return null;
    const [r, c] = empty[Math.floor(random() * empty.length)];
    board[r][c] = spawnTile ? spawnTile(random()) : random() < 0.9 ? 2 : 4;
    return [r, c];
  };
  // Where a slide by the usual rules takes each tile: its value, from where, to where.
  game.paths = (direction) =>
    lines(direction).flatMap((line) => {
      let place = -1;
      let open = 0;
      return line.flatMap(([r, c]) => {
        const value = board[r][c];
        if (!value) return [];
        if (open === value) open = 0;
        else {
          place += 1;
          open = value;
        }
        return [[value, [r, c], line[place]]];
      });
    });
  // Slides; true if anything moved. The tile spawns when the page calls spawn().
  game.slide = (direction) => {
    let moved = false;
    for (const line of lines(direction)) {
      const before = line.map(([r, c]) => board[r][c]).filter((value) => value);
      const after = farEnd ? merge(before.reverse()).reverse() : merge(before);
      line.forEach(([r, c], i) => {
        if (board[r][c] !== (after[i] ?? 0)) moved = true;
        board[r][c] = after[i] ?? 0;
      });
    }
    if (moved) game.moves += 1;
    game.max = Math.max(...board.flat());
    return moved;
  };
  game.move = (direction) => {
    const moved = game.slide(direction);
    if (moved) game.spawn();
    return moved;
  };
  game.canMove = () =>
    board.some((row, r) =>
      row.some((value, c) => !value || value === row[c + 1] || value === board[r + 1]?.[c]),
    );
  game.each = (visit) => {
    for (const [r, row] of board.entries()) for (const [c, value] of row.entries()) visit(value, r, c);
  };
  for (let i = 0; i < tiles; i += 1) game.spawn();
  return game;
};

const ARROW = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
const onArrows = (move, type = "keydown", target = window) =>
  target.addEventListener(type, (event) => {
    if (ARROW[event.key]) move(ARROW[event.key]);
  });

// A game of 2048.
//
// The address chooses the game:
//   ?seed=7      the same spawns every time: splitmix64, started with that number (0 to 2^64 - 1)
//   ?size=5      5 × 5 cells; ?size=4x6 is 4 rows by 6 columns; sides from 2 to 8
//   ?goal=512    the tile that wins, a power of two from 8 to 131072
//
// A spawn takes two numbers of the generator: the first chooses the empty cell, counted row by row
// (number × empty cells, divided by 2^64 and rounded down), the second the tile: 2 below 0.9 × 2^64, else 4.
// A game begins with two spawns. Further games on the same page go on in the same stream.
//
// Every key is answered in the same task: when its event is over, the page shows the new state. Only the look
// follows, by CSS. `window.game2048` is a read-only view of the game for tests and the curious.
"use strict";

(() => {
  const DIRECTIONS = {
    up: { row: -1, column: 0 },
    right: { row: 0, column: 1 },
    down: { row: 1, column: 0 },
    left: { row: 0, column: -1 },
  };
  const KEYS = {
    ArrowUp: "up",
    ArrowRight: "right",
    ArrowDown: "down",
    ArrowLeft: "left",
    KeyW: "up",
    KeyD: "right",
    KeyS: "down",
    KeyA: "left",
  };
  const START_TILES = 2;
  const FOUR_FROM = (2n ** 64n * 9n) / 10n;
  const SWIPE_PX = 24;
  const GHOST_MS = 140; // as long as a slide takes to be seen, with a little to spare
  const ANNOUNCE_MS = 250;

  // -- the address -----------------------------------------------------------------------------------------

  const query = new URLSearchParams(location.search);

  const sizeOf = (text) => {
    const match = /^([2-8])(?:[x×]([2-8]))?$/i.exec(text ?? "");
    if (!match) return { rows: 4, columns: 4 };
    return { rows: Number(match[1]), columns: Number(match[2] ?? match[1]) };
  };
  const goalOf = (text) => {
    const goal = Number(text ?? 2048);
    return Number.isInteger(Math.log2(goal)) && goal >= 8 && goal <= 131072 ? goal : 2048;
  };
  const seedOf = (text) => {
    if (/^\d{1,20}$/.test(text ?? "")) return BigInt.asUintN(64, BigInt(text));
    return crypto.getRandomValues(new BigUint64Array(1))[0];
  };

  const { rows, columns } = sizeOf(query.get("size"));
  const goal = goalOf(query.get("goal"));
  const seed = seedOf(query.get("seed"));

  // splitmix64 (Steele, Lea and Flood, OOPSLA 2014, doi:10.1145/2660193.2660195).
  const splitmix64 = (start) => {
    let state = start;
    return () => {
      state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
      let z = state;
      z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
      z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
      return z ^ (z >> 31n);
    };
  };
  const nextNumber = splitmix64(seed);

  // -- the best score: kept where the browser allows it ----------------------------------------------------

  const BEST_KEY = `bot2048.best.${rows}x${columns}`;
  const loadBest = () => {
    try {
      const best = Number(localStorage.getItem(BEST_KEY));
      return Number.isSafeInteger(best) && best > 0 ? best : 0;
    } catch {
      return 0;
    }
  };
  const saveBest = (best) => {
    try {
      localStorage.setItem(BEST_KEY, String(best));
    } catch {
      // Private windows and full disks refuse; the game goes on without.
    }
  };

  // -- the rules -------------------------------------------------------------------------------------------

  // A cell holds null or a tile {value, row, column, element}.
  const game = { cells: [], score: 0, best: loadBest(), won: false, goesOn: false, over: false, moves: 0 };

  const at = (row, column) => game.cells[row * columns + column];
  const put = (tile, row, column) => {
    game.cells[row * columns + column] = tile;
    if (tile) Object.assign(tile, { row, column });
  };
  const isInside = (row, column) => row >= 0 && row < rows && column >= 0 && column < columns;

  const spawn = () => {
    const empty = [];
    game.cells.forEach((tile, index) => {
      if (!tile) empty.push(index);
    });
    const cell = empty[Number((nextNumber() * BigInt(empty.length)) >> 64n)];
    const value = nextNumber() < FOUR_FROM ? 2 : 4;
    const tile = { value, element: null };
    put(tile, Math.floor(cell / columns), cell % columns);
    return tile;
  };

  // The cells in the order in which tiles move: those nearest the wall first.
  const inOrder = (step) => {
    const order = game.cells.map((_, index) => index);
    return step.row > 0 || step.column > 0 ? order.reverse() : order;
  };

  // Slides all tiles. Returns the merges [{tile, from: [tile, tile]}] and whether anything moved.
  const slide = (direction) => {
    const step = DIRECTIONS[direction];
    const merges = new Map();
    let moved = false;
    for (const index of inOrder(step)) {
      const tile = game.cells[index];
      if (!tile) continue;
      let { row, column } = tile;
      while (isInside(row + step.row, column + step.column) && !at(row + step.row, column + step.column)) {
        row += step.row;
        column += step.column;
      }
      const next = isInside(row + step.row, column + step.column)
        ? at(row + step.row, column + step.column)
        : null;
      if (next && next.value === tile.value && !merges.has(next)) {
        const merged = { value: tile.value * 2, element: null };
        merges.set(merged, [next, tile]);
        put(null, tile.row, tile.column);
        put(merged, next.row, next.column);
        Object.assign(tile, { row: next.row, column: next.column });
        game.score += merged.value;
        moved = true;
      } else if (row !== tile.row || column !== tile.column) {
        put(null, tile.row, tile.column);
        put(tile, row, column);
        moved = true;
      }
    }
    return { merges, moved };
  };

  const canMove = () =>
    game.cells.some((tile) => {
      if (!tile) return true;
      return [DIRECTIONS.right, DIRECTIONS.down].some((step) => {
        const row = tile.row + step.row;
        const column = tile.column + step.column;
        return isInside(row, column) && at(row, column)?.value === tile.value;
      });
    });

  const status = () => (game.over ? "over" : game.won && !game.goesOn ? "won" : "playing");

  // -- the page --------------------------------------------------------------------------------------------

  const find = (selector) => document.querySelector(selector);
  const page = {
    board: find(".board"),
    grid: find(".grid-container"),
    tiles: find(".tile-container"),
    score: find(".score-container"),
    best: find(".best-container"),
    message: find(".game-message"),
    messageTitle: find(".message-title"),
    messageText: find(".message-text"),
    keepGoing: find(".keep-playing-button"),
    status: find('[role="status"]'),
    cells: [],
    ghosts: [],
  };

  const make = (className, attributes = {}) => {
    const element = document.createElement("div");
    element.className = className;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  const buildGrid = () => {
    document.documentElement.style.setProperty("--rows", rows);
    document.documentElement.style.setProperty("--columns", columns);
    page.board.setAttribute("aria-rowcount", rows);
    page.board.setAttribute("aria-colcount", columns);
    find(".goal-tile").textContent = goal;
    for (let r = 0; r < rows; r += 1) {
      const row = make("grid-row", { role: "row" });
      for (let c = 0; c < columns; c += 1) {
        const cell = make("grid-cell", { role: "gridcell", "aria-rowindex": r + 1, "aria-colindex": c + 1 });
        page.cells.push(row.appendChild(cell));
      }
      page.grid.append(row);
    }
  };

  // Sets a tile's classes and place; the browser animates from where it was.
  const show = (tile, extra = "") => {
    const { value, row, column, element } = tile;
    const name = `tile tile-${value} tile-position-${column + 1}-${row + 1}${extra}`;
    if (element.className === name) return;
    element.className = name;
    element.style.setProperty("--column", column);
    element.style.setProperty("--row", row);
  };

  const add = (tile, extra) => {
    tile.element = make("");
    tile.element.dataset.digits = String(tile.value).length;
    const face = make("tile-inner");
    face.textContent = tile.value;
    tile.element.append(face);
    show(tile, extra);
    page.tiles.append(tile.element);
  };

  let ghostTimer = 0;
  const removeGhosts = () => {
    clearTimeout(ghostTimer);
    for (const element of page.ghosts) element.remove();
    page.ghosts = [];
  };

  const addGhosts = (tiles) => {
    for (const tile of tiles) {
      show(tile, " tile-ghost");
      page.ghosts.push(tile.element);
    }
    if (page.ghosts.length) ghostTimer = setTimeout(removeGhosts, GHOST_MS);
  };

  const showScores = (gain) => {
    page.score.textContent = game.score;
    page.best.textContent = game.best;
    if (gain > 0) {
      const floater = make("score-addition", { "aria-hidden": "true" });
      floater.textContent = `+${gain}`;
      floater.addEventListener("animationend", () => floater.remove());
      page.score.append(floater);
    }
  };

  const describeCells = () => {
    game.cells.forEach((tile, index) => {
      const label = tile ? String(tile.value) : "empty";
      if (page.cells[index].getAttribute("aria-label") !== label) {
        page.cells[index].setAttribute("aria-label", label);
      }
    });
  };

  let announceTimer = 0;
  const announce = (text) => {
    // Only the last of a quick run of moves is worth hearing.
    clearTimeout(announceTimer);
    announceTimer = setTimeout(() => {
      page.status.textContent = text;
    }, ANNOUNCE_MS);
  };

  const showMessage = () => {
    const state = status();
    page.message.classList.toggle("game-won", state === "won");
    page.message.classList.toggle("game-over", state === "over");
    page.message.hidden = state === "playing";
    if (state === "playing") return;
    page.messageTitle.textContent = state === "won" ? "You win!" : "Game over";
    page.messageText.textContent =
      state === "won"
        ? `You made the ${goal} tile in ${game.moves} moves.`
        : `No move is left. ${game.score} points in ${game.moves} moves.`;
    page.keepGoing.hidden = state !== "won";
    (state === "won" ? page.keepGoing : find(".retry-button")).focus({ preventScroll: true });
  };

  const describeMove = (direction, gain, spawned) => {
    const top = Math.max(...game.cells.map((tile) => tile?.value ?? 0));
    const points = gain ? `, ${gain} points` : "";
    return (
      `${direction}${points}. New ${spawned.value} in row ${spawned.row + 1}, column ${spawned.column + 1}. ` +
      `Score ${game.score}, highest tile ${top}.`
    );
  };

  // -- what the player does --------------------------------------------------------------------------------

  const move = (direction) => {
    if (status() !== "playing") return;
    const scoreBefore = game.score;
    const { merges, moved } = slide(direction);
    if (!moved) return;
    removeGhosts();
    const spawned = spawn();
    game.moves += 1;
    for (const merged of merges.keys()) game.won ||= merged.value === goal;
    game.over = !canMove();
    if (game.score > game.best) {
      game.best = game.score;
      saveBest(game.best);
    }
    for (const tile of game.cells) if (tile?.element) show(tile);
    addGhosts([...merges.values()].flat());
    for (const merged of merges.keys()) add(merged, " tile-merged");
    add(spawned, " tile-new");
    showScores(game.score - scoreBefore);
    describeCells();
    announce(describeMove(direction, game.score - scoreBefore, spawned));
    showMessage();
  };

  const newGame = () => {
    removeGhosts();
    page.tiles.replaceChildren();
    Object.assign(game, { score: 0, won: false, goesOn: false, over: false, moves: 0 });
    game.cells = new Array(rows * columns).fill(null);
    for (let i = 0; i < START_TILES; i += 1) add(spawn(), " tile-new");
    showScores(0);
    describeCells();
    announce(`New game, ${rows} rows by ${columns} columns.`);
    showMessage();
  };

  const focusBoard = () => page.board.focus({ preventScroll: true });

  const keepGoing = () => {
    game.goesOn = true;
    showMessage();
    focusBoard();
  };

  const listenToKeys = () => {
    window.addEventListener("keydown", (event) => {
      const direction = KEYS[event.code] ?? KEYS[event.key];
      if (!direction || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      event.preventDefault(); // arrows would scroll
      move(direction);
    });
  };

  const listenToSwipes = () => {
    let start = null;
    page.board.addEventListener("pointerdown", (event) => {
      if (event.isPrimary) start = { x: event.clientX, y: event.clientY, id: event.pointerId };
    });
    window.addEventListener("pointermove", (event) => {
      if (!start || event.pointerId !== start.id) return;
      const dx = event.clientX - start.x;
      const dy = event.clientY - start.y;
      if (Math.max(Math.abs(dx), Math.abs(dy)) < SWIPE_PX) return;
      start = null; // one move a swipe
      if (Math.abs(dx) > Math.abs(dy)) move(dx > 0 ? "right" : "left");
      else move(dy > 0 ? "down" : "up");
    });
    for (const end of ["pointerup", "pointercancel"]) {
      window.addEventListener(end, () => {
        start = null;
      });
    }
  };

  const snapshot = Object.freeze({
    get board() {
      return Array.from({ length: rows }, (_, row) =>
        Array.from({ length: columns }, (_, column) => at(row, column)?.value ?? 0),
      );
    },
    get score() {
      return game.score;
    },
    get best() {
      return game.best;
    },
    get moves() {
      return game.moves;
    },
    get status() {
      return status();
    },
    get seed() {
      return String(seed);
    },
    get goal() {
      return goal;
    },
  });
  Object.defineProperty(window, "game2048", { value: snapshot });

  buildGrid();
  listenToKeys();
  listenToSwipes();
  for (const button of document.querySelectorAll(".restart-button, .retry-button")) {
    button.addEventListener("click", () => {
      newGame();
      focusBoard();
    });
  }
  page.keepGoing.addEventListener("click", keepGoing);
  newGame();
})();

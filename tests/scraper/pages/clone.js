// Faults, each a parameter of the address:
//   board=2 2 0 0/...   the first board (else 4 x 4 with two 2s); every spawn is a 2 in the first empty cell
//   drop=N              the first N keys do nothing
//   late=MS             a key takes effect after that time
//   spawn-late=MS       the tile spawns that much after the slide
//   passing=N           for so many frames another board is shown that obeys the rules as well...
//   passing-from=N      ... from the N-th move on
//   rules=chain         a merged tile merges again;  rules=two-spawns
//   alert=N, confirm=N, prompt=N, reload=N, hang=N, remove=N     at the N-th move
//   win=T               the tile that wins
//   go=class|text|hidden|none|stuck                    the button that lets play go on
//   new=class|text|confirm|none                        the button that starts a new game
"use strict";

const query = new URLSearchParams(location.search);
const number = (name) => Number(query.get(name) ?? NaN);
const first = (query.get("board") ?? "2 0 0 0/0 0 0 0/0 0 2 0/0 0 0 0")
  .split("/")
  .map((row) => row.split(" ").map(Number));
const lines = {
  ArrowLeft: first.map((_, r) => first[0].map((_, c) => [r, c])),
  ArrowUp: first[0].map((_, c) => first.map((_, r) => [r, c])),
};
lines.ArrowRight = lines.ArrowLeft.map((line) => [...line].reverse());
lines.ArrowDown = lines.ArrowUp.map((line) => [...line].reverse());

const state = { board: [], score: 0, keys: 0, moves: 0, won: false };
window.truth = state;

const find = (selector) => document.querySelector(selector);
const copy = (board) => board.map((row) => [...row]);

const draw = (board) => {
  find(".tile-container").replaceChildren();
  for (const [r, row] of board.entries()) {
    for (const [c, value] of row.entries()) {
      if (!value) continue;
      const tile = document.createElement("span");
      tile.className = `tile tile-${value} tile-position-${c + 1}-${r + 1}`;
      find(".tile-container").append(tile);
    }
  }
  find(".score-container").textContent = state.score.toLocaleString("en-US");
};

const empty = (board) => board.flatMap((row, r) => row.flatMap((value, c) => (value ? [] : [[r, c]])));

const slide = (key) => {
  const board = copy(state.board);
  for (const line of lines[key]) {
    const out = [];
    let open = false;
    for (const value of line.map(([r, c]) => board[r][c]).filter((value) => value)) {
      if (open && out.at(-1) === value) {
        out[out.length - 1] *= 2;
        state.score += value * 2;
        state.won ||= value * 2 === number("win");
        open = query.get("rules") === "chain";
      } else {
        out.push(value);
        open = true;
      }
    }
    line.forEach(([r, c], i) => {
      board[r][c] = out[i] ?? 0;
    });
  }
  return board;
};

const say = (kind, text) => {
  find(".message").className = `message ${kind}`;
  find(".message").textContent = text;
};

const canMove = () =>
  empty(state.board).length > 0 ||
  state.board.some((row, r) =>
    row.some((value, c) => value === row[c + 1] || value === state.board[r + 1]?.[c]),
  );

const spawn = () => {
  for (let i = 0; i < (query.get("rules") === "two-spawns" ? 2 : 1); i += 1) {
    const [r, c] = empty(state.board)[0];
    state.board[r][c] = 2;
  }
  draw(state.board);
  if (state.won && !state.goesOn) {
    say("game-won", "You win!");
    button("go", "keep-playing-button", "Keep going");
  } else if (!canMove()) {
    say("game-over", "Game over!");
  }
};

const faults = () => {
  if (state.moves === number("alert")) alert("Look!");
  if (state.moves === number("confirm") && confirm("Wipe the board?")) state.board = copy(first);
  if (state.moves === number("prompt") && prompt("How many rows?") !== "4") state.board = copy(first);
  if (state.moves === number("remove")) find(".tile-container").remove();
  if (state.moves === number("hang")) for (;;);
};

const afterFrames = (count, act) =>
  requestAnimationFrame(() => (count > 1 ? afterFrames(count - 1, act) : act()));

const take = (key) => {
  const board = slide(key);
  if (String(board) === String(state.board)) return;
  state.moves += 1;
  if (state.moves === number("reload")) {
    location.reload();
    return;
  }
  faults();
  state.board = board;
  if (number("spawn-late")) {
    draw(board);
    setTimeout(spawn, number("spawn-late"));
  } else if (number("passing") && state.moves >= (number("passing-from") || 1)) {
    const passing = copy(board);
    const [r, c] = empty(board).at(-1);
    passing[r][c] = 4;
    draw(passing);
    afterFrames(number("passing"), spawn);
  } else {
    spawn();
  }
};

window.addEventListener("keydown", (event) => {
  if (!lines[event.key] || (state.won && !state.goesOn)) return;
  state.keys += 1;
  if (state.keys <= number("drop")) return;
  if (number("late")) setTimeout(take, number("late"), event.key);
  else take(event.key);
});

const start = () => {
  Object.assign(state, { board: copy(first), score: 0, won: false, goesOn: false });
  say("hidden", "");
  draw(state.board);
};

const goOn = () => {
  if (query.get("go") === "stuck") return;
  state.goesOn = true;
  say("hidden", "");
};

const button = (option, className, text) => {
  const how = query.get(option) ?? "class";
  if (how === "none") return;
  const made = document.createElement("button");
  made.textContent = how === "class" ? "»" : text;
  if (how !== "text") made.className = className;
  if (how === "hidden") made.style.display = "none";
  made.addEventListener("click", () => {
    if (option === "go") goOn();
    else if (how !== "confirm" || confirm("Start anew?")) start();
  });
  find(".buttons").append(made);
};

button("new", "restart-button", "New game");
start();

// <board-view>: a board in the classic look. Python or another script sets its state.

/**
 * @typedef {object} BoardState
 * @property {number} rows
 * @property {number} columns
 * @property {number[]} cells exponents row by row, 0 for empty
 * @property {number[]} [motions] how the tiles came here: from cell, to cell, exponent, 1 if it merges; each tile
 * @property {number} [ms] how long the motion lasts
 */

const DARK_TEXT_EXPONENTS = 2;
const LOOKS = 12; // larger tiles look alike
const stillness = window.matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @param {number} exponent
 * @param {number} columns
 */
function tile(exponent, columns) {
  const digits = String(2 ** exponent);
  const element = document.createElement("div");
  element.className = `tile ${exponent <= DARK_TEXT_EXPONENTS ? "dark-text" : ""}`;
  element.style.background = `var(--tile-${Math.min(exponent, LOOKS)})`;
  element.style.fontSize = `${Math.min(46, 126 / digits.length) / columns}cqw`;
  element.textContent = digits;
  return element;
}

/** @param {BoardState} state */
function spoken(state) {
  const rows = [];
  for (let row = 0; row < state.rows; row++) {
    const cells = state.cells.slice(row * state.columns, (row + 1) * state.columns);
    rows.push(cells.map((exponent) => (exponent ? 2 ** exponent : "empty")).join(" "));
  }
  return `Board: ${rows.join(" / ")}`;
}

export class BoardView extends HTMLElement {
  static observedAttributes = ["data-state"];

  /** @type {Animation[]} */
  #running = [];
  #field = document.createElement("div");

  connectedCallback() {
    this.setAttribute("role", "img");
    this.#field.className = "field";
    this.#field.setAttribute("aria-hidden", "true");
    if (this.#field.parentNode !== this) this.replaceChildren(this.#field);
  }

  /**
   * @param {string} _name
   * @param {string | null} _before
   * @param {string | null} value
   */
  attributeChangedCallback(_name, _before, value) {
    if (value) this.show(JSON.parse(value));
  }

  /**
   * Show a board; with motions, let its tiles slide there first.
   * @param {BoardState} state
   */
  show(state) {
    for (const animation of this.#running.splice(0)) animation.cancel();
    this.setAttribute("aria-label", spoken(state));
    this.style.setProperty("--rows", String(state.rows));
    this.style.setProperty("--columns", String(state.columns));
    const ms = stillness.matches || !state.motions ? 0 : (state.ms ?? 100);
    if (!ms || !state.motions) {
      this.#draw(state, new Set(), new Set());
      return;
    }
    const merged = /** @type {Set<number>} */ (new Set());
    const ends = /** @type {Set<number>} */ (new Set());
    const tiles = [];
    for (let at = 0; at < state.motions.length; at += 4) {
      const [start, end, exponent, merges] = state.motions.slice(at, at + 4);
      ends.add(end);
      if (merges) merged.add(end);
      const moving = this.#place(tile(exponent, state.columns), start, state.columns);
      tiles.push(moving);
      const across = (end % state.columns) - (start % state.columns);
      const down = Math.floor(end / state.columns) - Math.floor(start / state.columns);
      if (across || down) {
        const way = `translate(calc(var(--step) * ${across}), calc(var(--step) * ${down}))`;
        const frames = [{ transform: "none" }, { transform: way }];
        this.#running.push(moving.animate(frames, { duration: ms, easing: "ease-in-out", fill: "forwards" }));
      }
    }
    this.#field.replaceChildren(...this.#empty(state), ...tiles);
    const spawned = new Set(
      state.cells.flatMap((exponent, cell) => (exponent && !ends.has(cell) ? [cell] : [])),
    );
    Promise.all(this.#running.map((animation) => animation.finished)).then(
      () => this.#draw(state, merged, spawned),
      () => undefined, // another board is shown already
    );
  }

  /**
   * @param {BoardState} state
   * @param {Set<number>} merged
   * @param {Set<number>} spawned
   */
  #draw(state, merged, spawned) {
    const tiles = [];
    for (const [cell, exponent] of state.cells.entries()) {
      if (!exponent) continue;
      const element = this.#place(tile(exponent, state.columns), cell, state.columns);
      if (merged.has(cell)) element.classList.add("merged");
      if (spawned.has(cell)) element.classList.add("spawned");
      tiles.push(element);
    }
    this.#field.replaceChildren(...this.#empty(state), ...tiles);
  }

  /** @param {BoardState} state */
  #empty(state) {
    return state.cells.map((_, cell) => {
      const element = document.createElement("div");
      element.className = "empty";
      return this.#place(element, cell, state.columns);
    });
  }

  /**
   * @param {HTMLElement} element
   * @param {number} cell
   * @param {number} columns
   */
  #place(element, cell, columns) {
    element.style.left = `calc(var(--gap) + var(--step) * ${cell % columns})`;
    element.style.top = `calc(var(--gap) + var(--step) * ${Math.floor(cell / columns)})`;
    return element;
  }
}

customElements.define("board-view", BoardView);

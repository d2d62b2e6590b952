// Reads the original 2048 page and its descendants. Each tile has its value and its place in its classes,
// `tile-<value>` and `tile-position-<column>-<row>`, both counted from 1. The positions of the tiles show whether a
// descendant counts from 0, or puts the row first.

/** @import { Find, RawReading, Reader } from "../types.js" */

import { classesOf, digitsOf } from "../dom.js";
import { MAX_SIDE } from "./boxes.js";
import { isPower } from "./values.js";

const POSITION = /(?:^|\s)tile-position-(\d{1,2})-(\d{1,2})(?:\s|$)/;
const VALUE = /(?:^|\s)tile-(\d{1,16})(?:\s|$)/;
const MOST_DIGITS = 32;
const MOST_LOOKS = 100;
const MOST_SEEN = 2000;
const LARGEST_RANK = 17;

/**
 * How positions are counted.
 *
 * @typedef {object} Layout
 * @property {number} base the number of the first row and column
 * @property {boolean} rowFirst
 */

/** @type {Layout[]} */
const LAYOUTS = [1, 0].flatMap((base) => [false, true].map((rowFirst) => ({ base, rowFirst })));

/**
 * @typedef {object} Grid
 * @property {number} rows
 * @property {number} columns
 */

/**
 * What the classes of a tile say.
 *
 * @typedef {object} TileClasses
 * @property {number} first the first number of its position
 * @property {number} second
 * @property {number | null} value
 */

/** @type {Map<string, TileClasses | null>} the class attributes seen so far; a board is read several times a move */
const seen = new Map();

/** @param {Element} tile */
const toldBy = (tile) => {
  const text = classesOf(tile);
  let told = seen.get(text);
  if (told === undefined) {
    const position = POSITION.exec(text);
    const value = VALUE.exec(text);
    told = position && {
      first: Number(position[1]),
      second: Number(position[2]),
      value: value && Number(value[1]),
    };
    if (seen.size >= MOST_SEEN) seen.clear();
    seen.set(text, told);
  }
  return told;
};

const tileElements = () =>
  [...document.querySelectorAll('[class*="tile-position-"]')].filter((tile) => toldBy(tile) !== null);

/** @param {Element} tile */
const shownBy = (tile) => {
  const inClass = toldBy(tile)?.value;
  if (typeof inClass === "number") return inClass;
  const text = (tile.textContent ?? "").trim();
  return /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
};

/**
 * @param {Layout} layout
 * @param {Element} tile
 */
const placeIn = ({ base, rowFirst }, tile) => {
  const told = toldBy(tile);
  if (!told) return null;
  const [first, second] = [told.first - base, told.second - base];
  return rowFirst ? { row: first, column: second } : { row: second, column: first };
};

// -- the size --------------------------------------------------------------------------------------------

const cellBoxes = () =>
  [...document.querySelectorAll(".grid-cell")].map((cell) => cell.getBoundingClientRect());

/**
 * Return the size by the rows of grid cells, or else by the places of loose grid cells.
 *
 * @returns {Grid | null}
 */
const sizeFromGrid = () => {
  const rows = [...document.querySelectorAll(".grid-row")]
    .map((row) => row.querySelectorAll(".grid-cell").length)
    .filter((count) => count > 0);
  if (rows.length) {
    return rows.every((count) => count === rows[0]) ? { rows: rows.length, columns: rows[0] } : null;
  }
  const boxes = cellBoxes();
  const tops = new Set(boxes.map((box) => Math.round(box.top)));
  const lefts = new Set(boxes.map((box) => Math.round(box.left)));
  const isFull = boxes.length > 0 && tops.size * lefts.size === boxes.length;
  return isFull ? { rows: tops.size, columns: lefts.size } : null;
};

/**
 * @param {Layout} layout
 * @returns {Grid}
 */
const sizeFromPositions = (layout) => {
  let rows = 4;
  let columns = 4;
  for (const tile of tileElements()) {
    const place = placeIn(layout, tile);
    if (!place) continue;
    columns = Math.max(columns, place.column + 1);
    rows = Math.max(rows, place.row + 1);
  }
  return { rows, columns };
};

/** @param {Layout} layout */
const sizeOf = (layout) => {
  const found = sizeFromGrid() ?? sizeFromPositions(layout);
  return { rows: Math.min(found.rows, MAX_SIDE + 1), columns: Math.min(found.columns, MAX_SIDE + 1) };
};

// -- the layout ------------------------------------------------------------------------------------------

/**
 * Return the rectangle that the cells divide evenly.
 *
 * @param {Element[]} tiles
 */
const frameOf = (tiles) => {
  const boxes = cellBoxes();
  if (!boxes.length) return (tiles[0]?.parentElement ?? document.documentElement).getBoundingClientRect();
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const right = Math.max(...boxes.map((box) => box.right));
  const bottom = Math.max(...boxes.map((box) => box.bottom));
  return new DOMRect(left, top, right - left, bottom - top);
};

/** @param {DOMRect} box */
const rectangle = ({ left, top, width, height }) => ({ x: left, y: top, width, height });

/**
 * Return the layouts in which all tiles stand at the places in their classes.
 *
 * @param {Element[]} tiles
 * @param {Grid} grid
 */
const fittingLayouts = (tiles, grid) => {
  const frame = frameOf(tiles);
  return LAYOUTS.filter((layout) =>
    tiles.every((tile) => {
      const place = placeIn(layout, tile);
      if (!place) return false;
      const box = tile.getBoundingClientRect();
      const x = ((box.left + box.width / 2 - frame.left) / frame.width) * grid.columns - 0.5;
      const y = ((box.top + box.height / 2 - frame.top) / frame.height) * grid.rows - 0.5;
      return Math.abs(x - place.column) < 0.35 && Math.abs(y - place.row) < 0.35;
    }),
  );
};

// -- the reading -----------------------------------------------------------------------------------------

/**
 * Return whether something is visible or will be soon. The original fades its messages in after a delay, so opacity 0
 * during an animation still counts.
 *
 * @param {string} selector
 */
const isShownSoon = (selector) => {
  for (const element of document.querySelectorAll(selector)) {
    if (!element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    if (style.visibility === "hidden") continue;
    if (style.opacity === "0" && element.getAnimations().length === 0) continue;
    return true;
  }
  return false;
};

/**
 * Return whether the tiles of a cell are certain: a single tile, or a merged tile over the two tiles it was made of.
 * The original's first frame after a key shows tiles at their old places, so that an old tile can lie in the cell of
 * the spawned tile.
 *
 * @param {number[]} values
 */
const isSettledCell = (values) => {
  if (values.length === 1) return true;
  const top = Math.max(...values);
  return values.length === 3 && values.filter((value) => value * 2 === top).length === 2;
};

class PositionReader {
  constructor() {
    this.layout = LAYOUTS[0];
    this.looks = 0;
    /** Whether classes and faces show exponents. */
    this.ranked = false;
    this.grid = sizeOf(this.layout);
  }

  findLayout() {
    const tiles = tileElements();
    if (tiles.length < 2) return;
    this.looks += 1;
    const fitting = fittingLayouts(tiles, this.grid);
    if (fitting.length) [this.layout] = fitting;
    if (fitting.length === 1) this.looks = MOST_LOOKS;
  }

  /** The values in each cell that is not empty. If a cell holds several tiles, the largest one will stay. */
  stacks() {
    /** @type {Map<number, number[]>} */
    const stacks = new Map();
    /** @type {number[]} */
    const odd = [];
    /** @type {[number, number][]} */
    const all = [];
    let outside = false;
    const { rows, columns } = this.grid;
    for (const tile of tileElements()) {
      const place = placeIn(this.layout, tile);
      if (!place) continue;
      const { row, column } = place;
      if (row < 0 || column < 0 || row >= rows || column >= columns) {
        outside = true;
        continue;
      }
      const shown = shownBy(tile);
      const value = this.ranked && shown > 0 && shown <= LARGEST_RANK ? 2 ** shown : shown;
      if (value > 0 && !isPower(value)) {
        odd.push(value);
        continue;
      }
      const cell = row * columns + column;
      stacks.set(cell, [...(stacks.get(cell) ?? []), value]);
      all.push([cell, value]);
    }
    return { stacks, odd, outside, all };
  }

  /** @returns {RawReading} */
  read() {
    if (this.looks < MOST_LOOKS) this.findLayout();
    const { stacks, odd, outside, all } = this.stacks();
    // The page shows a larger board now: this reading is not sure, the next one will be.
    if (outside) this.grid = sizeOf(this.layout);
    const { rows, columns } = this.grid;
    const cells = new Array(rows * columns).fill(0);
    let sure = !outside;
    for (const [cell, values] of stacks) {
      if (cell >= cells.length) continue;
      cells[cell] = Math.max(...values);
      sure = sure && isSettledCell(values);
    }
    return {
      rows,
      columns,
      cells,
      sure: sure && !odd.length,
      tiles: all,
      odd: odd.slice(0, 8),
      score: digitsOf(document.querySelector(".score-container"), MOST_DIGITS),
      best: digitsOf(document.querySelector(".best-container"), MOST_DIGITS),
      won: isShownSoon(".game-won"),
      over: isShownSoon(".game-over"),
    };
  }

  /** Return the board's box with its frame; scroll to it if it is out of sight. */
  region() {
    const holder = document.querySelector(".game-container");
    holder?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const box = holder?.getBoundingClientRect();
    return rectangle(box?.width && box.height ? box : frameOf(tileElements()));
  }

  isAlive() {
    const now = sizeOf(this.layout);
    const isThere = document.querySelector('[class*="tile-position-"]') !== null;
    return isThere && now.rows === this.grid.rows && now.columns === this.grid.columns;
  }

  /** @type {NonNullable<Reader["learn"]>} */
  learn(_labels, ranks) {
    this.ranked = ranks ?? false;
  }
}

/** @type {Find} */
export const findPositionClasses = () => {
  const tiles = tileElements();
  // Other readers read tiles with words only, and pages with two boards.
  if (!tiles.length || tiles.some((tile) => Number.isNaN(shownBy(tile)))) return null;
  const boards = [...document.querySelectorAll(".tile-container")].filter((holder) =>
    tiles.some((tile) => holder.contains(tile)),
  );
  return boards.length > 1 ? null : new PositionReader();
};

// Finds and reads boards by the order of their elements or letters.
//
/** @import { CellValues, Lattice, LatticeBoard } from "../types.js" */

import { firstElement, NOT_BOXES } from "../dom.js";
import { boxOf, isVisible, MAX_SIDE } from "./boxes.js";
import { isPower, numberIn } from "./values.js";

/** @param {number} value */
const isPowerOrNothing = (value) => value === 0 || isPower(value);

/**
 * Return whether these may be the cells of a game: powers of two and empty cells.
 *
 * @param {number[]} values
 */
const isBeginning = (values) =>
  values.every(isPowerOrNothing) && values.some((value) => value) && !values.every((value) => value);

// Rows of cells whose sizes depend on their content, so that only their order counts. Either each row is an element
// (with up to two headings above or below), or all cells are in one element and their height gives the row.
/** @param {Element} holder */
const rowsOf = (holder) => {
  /** @type {Element[][]} */
  let best = [];
  /** @type {Element[][]} */
  let run = [];
  for (const line of holder.children) {
    const cells = [...line.children];
    if (run.length && run[0].length !== cells.length) run = [];
    if (cells.length > 1) run = [...run, cells];
    if (run.length > best.length) best = run;
  }
  return best;
};

/** @param {Element} holder */
const flatRowsOf = (holder) => {
  /** @type {{ y: number, cells: { cell: Element, x: number }[] }[]} */
  const rows = [];
  for (const cell of holder.children) {
    const box = boxOf(cell);
    if (!box.w || !box.h) continue;
    const row = rows.find((other) => Math.abs(other.y - box.y) < 0.3 * box.h);
    if (row) row.cells.push({ cell, x: box.x });
    else rows.push({ y: box.y, cells: [{ cell, x: box.x }] });
  }
  rows.sort((a, b) => a.y - b.y);
  return rows.map(({ cells }) => cells.sort((a, b) => a.x - b.x).map(({ cell }) => cell));
};

/** @param {Element[][]} found */
const turned = (found) => {
  if (found.length < 2 || found[0].length < 2) return found;
  let lines = found;
  const corner = boxOf(lines[0][0]);
  const next = boxOf(lines[0][1]);
  if (Math.abs(next.y - corner.y) > Math.abs(next.x - corner.x)) {
    lines = lines[0].map((_, index) => lines.map((line) => line[index])); // columns, each with its cells
  }
  const last = boxOf(lines[lines.length - 1][lines[0].length - 1]);
  if (last.x < corner.x) for (const line of lines) line.reverse();
  if (last.y < corner.y) lines.reverse();
  return lines;
};

/**
 * Return the cells in a holder, line by line.
 *
 * @param {Element} holder
 * @param {boolean | undefined} isFlat whether all cells are its children
 */
export const linesOf = (holder, isFlat) => (isFlat ? flatRowsOf(holder) : turned(rowsOf(holder)));

/**
 * @param {Element} holder
 * @param {boolean} isFlat
 * @returns {LatticeBoard | null}
 */
const boardOf = (holder, isFlat) => {
  const lines = linesOf(holder, isFlat);
  const rows = lines.length;
  const columns = lines[0]?.length ?? 0;
  if (rows < 2 || columns < 2 || rows > MAX_SIDE || columns > MAX_SIDE || (isFlat && rows * columns < 9))
    return null;
  if (lines.some((line) => line.length !== columns)) return null;
  const values = lines.flat().map((cell) => {
    const text = (cell.textContent ?? "").trim();
    return text === "" ? 0 : numberIn(text);
  });
  if (!isBeginning(values)) return null;
  const first = boxOf(lines[0][0]);
  const last = boxOf(lines[lines.length - 1][lines[0].length - 1]);
  const [px, py] = [(last.x - first.x) / (columns - 1), (last.y - first.y) / (rows - 1)];
  const lattice = { rows, columns, w: px, h: py, px, py, x: first.x, y: first.y, boxes: [] };
  const home = holder.getBoundingClientRect();
  return { lattice, scope: holder, home, prefix: null, dress: null, structured: true, isFlat };
};

/**
 * Return the first board of the page that is given by the order of its elements.
 *
 * @returns {LatticeBoard | null}
 */
export const structuredBoard = () => {
  /** @type {LatticeBoard | null} */
  let board = null;
  firstElement((holder) => {
    const children = holder.childElementCount;
    if (children < 2 || children > 100 || NOT_BOXES.has(holder.localName)) return false;
    board = boardOf(holder, false) ?? boardOf(holder, true);
    if (board && !isVisible(holder)) board = null;
    return board !== null;
  });
  return board;
};

/**
 * The values of such a board; null where its rows are not what they were.
 *
 * @param {LatticeBoard} board
 * @returns {CellValues | null}
 */
export const readStructure = (board) => {
  const lines = linesOf(board.scope, board.isFlat);
  const { rows, columns } = board.lattice;
  if (lines.length !== rows || lines.some((line) => line.length !== columns)) return null;
  const stacks = lines.flat().map((cell) => {
    const value = numberIn((cell.textContent ?? "").trim());
    return value >= 1 ? [value] : [];
  });
  return { stacks, odd: stacks.flat().filter((value) => !isPower(value)), moving: false };
};

const BAR = /[|│┃║]/;
const OUTER_BAR = /^[|│┃║]|[|│┃║]$/g;
const RULER =
  /^[-+=_─━═┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╰╯|│┃║\s]*([-=_─━═]{2}|─|━|═)[-+=_─━═┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╰╯|│┃║\s]*$/;
const NOTHING = /^[.·•_*–—-]*$/;

/**
 * Return the rows of a board that is written as text: cells between bars, or separated by spaces with a sign for empty.
 *
 * @param {string} text
 * @returns {number[][] | null}
 */
const writtenRows = (text) => {
  /** @type {number[][]} */
  let rows = [];
  /** @type {number[][]} */
  let best = [];
  const close = () => {
    if (rows.length > 1 && rows.length <= MAX_SIDE && rows.length > best.length) best = rows;
    rows = [];
  };
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (RULER.test(line) || (line === "" && rows.length)) continue;
    const parts = BAR.test(line) ? line.replace(OUTER_BAR, "").split(BAR) : line.split(/\s+/);
    const row = parts.map((part) => (NOTHING.test(part.trim()) ? 0 : numberIn(part.trim())));
    const isRow = row.length > 1 && row.length <= MAX_SIDE && row.every(isPowerOrNothing);
    if (!isRow || (rows.length && rows[0].length !== row.length)) close();
    if (isRow) rows.push(row);
  }
  close();
  return best.length ? best : null;
};

/** @param {Element} scope */
const isWritten = (scope) =>
  !NOT_BOXES.has(scope.localName) &&
  scope.childElementCount <= 200 &&
  (scope.textContent ?? "").length <= 2000 &&
  (getComputedStyle(scope).whiteSpace.startsWith("pre") || scope.querySelector(":scope > br") !== null);

/** @param {Element} scope */
const lettersOf = (scope) => (scope instanceof HTMLElement ? scope.innerText : (scope.textContent ?? ""));

/**
 * Return the first board of the page that is written as text.
 *
 * @returns {LatticeBoard | null}
 */
export const writtenBoard = () => {
  /** @type {LatticeBoard | null} */
  let board = null;
  firstElement((scope) => {
    if (!isWritten(scope) || !isVisible(scope)) return false;
    const found = writtenRows(lettersOf(scope));
    if (!found || !isBeginning(found.flat())) return false;
    const home = scope.getBoundingClientRect();
    const [rows, columns] = [found.length, found[0].length];
    const [w, h] = [home.width / columns, home.height / rows];
    /** @type {Lattice} */
    const lattice = {
      rows,
      columns,
      w,
      h,
      px: w,
      py: h,
      x: home.left + w / 2,
      y: home.top + h / 2,
      boxes: [],
    };
    board = { lattice, scope, home, prefix: null, dress: null, written: true };
    return true;
  });
  return board;
};

/**
 * The values of such a board; null where its rows are not what they were.
 *
 * @param {LatticeBoard} board
 * @returns {CellValues | null}
 */
export const readWritten = (board) => {
  const rows = writtenRows(lettersOf(board.scope));
  if (rows?.length !== board.lattice.rows || rows[0].length !== board.lattice.columns) return null;
  return { stacks: rows.flat().map((value) => (value ? [value] : [])), odd: [], moving: false };
};

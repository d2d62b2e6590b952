// Makes a board from a lattice of boxes, and reads its cells.

/** @import { CellValues, Dress, Lattice, LatticeBoard, Point } from "../types.js" */

import { commonAncestor, contains, firstElement, NOT_BOXES, namesOf, parentOf, walk } from "../dom.js";
import { boxOf, isVisible, rectOf } from "./boxes.js";
import { fontOf, hash, isPower, lookOf, numberIn, ownText, pieced, tokensOf } from "./values.js";

const POSITION_NAME =
  /(^|[-_])(row|col|column|x|y|r|c|pos|position|index|idx|id|key|cell|i|j|delay|z|w|h|size|grid|span)[-_]?(\d+[-_]?)*$/i;

/**
 * Return whether an element is on something that covers the page, such as a guide with an example.
 *
 * @param {Element} element
 * @param {Element} scope
 */
const isVeiling = (element, scope) => {
  for (
    let node = /** @type {Element | null} */ (element);
    node && !contains(node, scope);
    node = parentOf(node)
  ) {
    if (node.matches("dialog, [role=dialog], [aria-modal=true]")) return true;
    if (getComputedStyle(node).position === "fixed") return true;
  }
  return false;
};

/**
 * Return the board on a lattice, with the element that holds its cells and its tiles.
 *
 * @param {Lattice} lattice
 * @returns {LatticeBoard}
 */
export const makeBoard = (lattice) => {
  const { rows, columns, w, h, px, py } = lattice;
  /** @type {(box: Point) => boolean} */
  const inside = (box) =>
    box.x > lattice.x - 0.5 * px &&
    box.y > lattice.y - 0.5 * py &&
    box.x < lattice.x + (columns - 0.5) * px &&
    box.y < lattice.y + (rows - 0.5) * py;
  let scope = lattice.around ?? commonAncestor(lattice.boxes.map((box) => box.element));
  if (!lattice.around) {
    const over = [];
    for (const box of lattice.allBoxes ?? []) {
      const fits = box.w > 0.5 * w && box.w < 1.3 * w && box.h > 0.5 * h && box.h < 1.3 * h;
      if (fits && inside(box) && !isVeiling(box.element, scope)) over.push(box.element);
    }
    if (over.length) scope = commonAncestor([scope, ...over]);
    for (let outer = parentOf(scope); outer && !NOT_BOXES.has(outer.localName); outer = parentOf(outer)) {
      const box = rectOf(outer);
      if (box.width > 1.35 * columns * px || box.height > 1.35 * rows * py) break;
      scope = outer;
    }
  }
  const home = rectOf(scope);
  return { lattice, scope, home, prefix: null, dress: null };
};

/**
 * Return the cell under a point, and how far (in cells) the point is off its centre.
 *
 * @param {LatticeBoard} board
 * @param {{ x: number, y: number }} shift
 * @param {{ x: number, y: number }} box
 */
const placeOf = (board, shift, box) => {
  const { lattice } = board;
  const column = (box.x - lattice.x - shift.x) / lattice.px;
  const row = (box.y - lattice.y - shift.y) / lattice.py;
  const c = Math.round(column);
  const r = Math.round(row);
  if (c < 0 || r < 0 || c >= lattice.columns || r >= lattice.rows) return null;
  return { cell: r * lattice.columns + c, off: Math.max(Math.abs(column - c), Math.abs(row - r)) };
};

/**
 * Return how far a board has moved since it was found.
 *
 * @param {LatticeBoard} board
 */
export const shiftOf = (board) => {
  const box = rectOf(board.scope);
  return { x: box.left - board.home.left, y: box.top - board.home.top };
};

/**
 * Return the tile of a text: the first box around it that is about as large as a cell. In a drawing the tile may stand
 * beside the text; then the cell of the text counts.
 *
 * @param {LatticeBoard} board
 * @param {Element} element
 */
const tileAround = (board, element) => {
  const { w, h, px, py } = board.lattice;
  const end = parentOf(board.scope);
  for (let node = /** @type {Element | null} */ (element); node && node !== end; node = parentOf(node)) {
    const box = boxOf(node);
    if (box.w > 1.3 * px || box.h > 1.3 * py) break;
    if (box.w >= 0.5 * w && box.h >= 0.5 * h) return box;
  }
  const isDrawn = element.localName === "text" && element instanceof SVGElement;
  return isDrawn ? { ...boxOf(element), w, h } : null;
};

/**
 * Return the text before and after the number on each tile ("$2", "4 GB", "8k"); null if the tiles differ.
 *
 * @param {string[]} texts
 * @returns {Dress | null}
 */
const dressOf = (texts) => {
  const parts = texts.map((text) => /^(\D{0,8})(\d{1,7})(\D{0,8})$/.exec(text));
  const first = parts[0];
  if (!first || !parts.every((part) => part && isPower(Number(part[2])))) return null;
  const [, before, , after] = first;
  return parts.every((part) => part?.[1] === before && part[3] === after) ? { before, after } : null;
};

/**
 * @param {LatticeBoard} board
 * @param {string} text
 */
const undressed = ({ dress }, text) => {
  if (!dress || !text.startsWith(dress.before) || !text.endsWith(dress.after)) return text;
  return text.slice(dress.before.length, text.length - dress.after.length);
};

/**
 * Read the numbers on the tiles of a board.
 *
 * @param {LatticeBoard} board
 * @returns {CellValues}
 */
export const readText = (board) => new TextReading(board, false);

/**
 * Read the numbers and all other texts on a board, to compare them with a board of 2048.
 *
 * @param {LatticeBoard} board
 */
export const inspectText = (board) => new TextReading(board, true);

/** One reading of all texts of a board. */
class TextReading {
  /**
   * @param {LatticeBoard} board
   * @param {boolean} inspects whether to note the other texts too
   */
  constructor(board, inspects) {
    this.board = board;
    this.inspects = inspects;
    this.shift = shiftOf(board);
    this.moving = false;
    /** @type {number[][]} */
    this.stacks = Array.from({ length: board.lattice.rows * board.lattice.columns }, () => []);
    /** @type {number[]} */
    this.odd = [];
    /** @type {Set<number>} */
    this.fonts = new Set();
    /** @type {Map<number, number>} by cell, how large its words are written */
    this.worded = new Map();
    /** @type {Map<number, number>} by cell, how large its numbers are written */
    this.written = new Map();
    /** @type {Set<Element>} tiles whose pieces have been put together */
    this.whole = new Set();
    /** @type {string[]} texts with more than a number */
    this.dressed = [];
    this.plain = 0;
    walk(board.scope, (element) => this.see(element));
  }

  /** @param {Element} element */
  see(element) {
    const { board } = this;
    if (NOT_BOXES.has(element.localName)) return;
    const text = ownText(element);
    if (!text || (board.leastFont && fontOf(element) < board.leastFont)) return;
    const own = rectOf(element);
    if (own.width > 0 && own.width < 3) return; // for screen readers only
    const box = tileAround(board, element);
    if (!box || !isVisible(element)) return;
    const place = placeOf(board, this.shift, box);
    if (!place) return;
    if (this.inspects) this.note(element, text);
    let value = numberIn(undressed(board, text));
    if (Number.isNaN(value)) {
      if (/[\p{L}\p{So}]/u.test(text)) noteLargest(this.worded, place.cell, element);
      return;
    }
    if (this.whole.has(box.element)) return;
    const together = box.element === element ? Number.NaN : pieced(box.element);
    if (!Number.isNaN(together)) {
      value = together;
      this.whole.add(box.element);
    }
    if (value === 0) return;
    if (board.ranked && value <= 17) value = 2 ** value;
    if (this.inspects) noteLargest(this.written, place.cell, element);
    if (isPower(value)) {
      if (place.off > 0.2) this.moving = true;
      this.stacks[place.cell].push(value);
    } else if (place.off < 0.15 && Math.abs(box.w / board.lattice.w - 1) < 0.2) {
      this.odd.push(value);
    }
  }

  /**
   * @param {Element} element
   * @param {string} text
   */
  note(element, text) {
    this.fonts.add(fontOf(element));
    if (/^\d+$/.test(text)) this.plain += 1;
    else if (/\d/.test(text)) this.dressed.push(text);
  }

  /** The number of cells with a word and no number. */
  get words() {
    return [...this.worded.keys()].filter((cell) => !this.stacks[cell].length).length;
  }

  /** The number of cells with a word beside a number. */
  get named() {
    return this.worded.size - this.words;
  }

  /** The number of cells with a word that is larger than their number. */
  get small() {
    return [...this.worded].filter(([cell, size]) => size > (this.written.get(cell) ?? size)).length;
  }

  get dress() {
    return this.plain ? null : dressOf(this.dressed);
  }
}

/**
 * @param {Map<number, number>} sizes
 * @param {number} cell
 * @param {Element} element
 */
const noteLargest = (sizes, cell, element) => {
  sizes.set(cell, Math.max(fontOf(element), sizes.get(cell) ?? 0));
};

/**
 * Visit the elements that lie in a cell and are about as large as it.
 *
 * @param {LatticeBoard} board
 * @param {number} least its least size, as a share of a cell's
 * @param {(element: Element, place: { cell: number, off: number }, box: Point) => void} visit
 */
const cellElements = (board, least, visit) => {
  const shift = shiftOf(board);
  const { w, h, px, py } = board.lattice;
  walk(board.scope, (element) => {
    if (NOT_BOXES.has(element.localName)) return;
    const box = boxOf(element);
    if (box.w < least * w || box.h < least * h || box.w > 1.3 * px || box.h > 1.3 * py) return;
    const place = placeOf(board, shift, box);
    if (place && isVisible(element)) visit(element, place, box);
  });
};

/**
 * Read the numbers in classes and attributes, by the prefix before them and by cell.
 *
 * @param {LatticeBoard} board
 * @param {string | null} wanted the only prefix to read; null for all
 */
export const readTokens = (board, wanted) => {
  /** @type {Map<string, Map<number, number[]>>} */
  const byPrefix = new Map();
  let moving = false;
  cellElements(board, 0.5, (element, place) => {
    for (const [prefix, value] of tokensOf(element)) {
      if (wanted !== null && prefix !== wanted) continue;
      const cells = byPrefix.get(prefix) ?? new Map();
      byPrefix.set(prefix, cells);
      const stack = cells.get(place.cell) ?? [];
      cells.set(place.cell, stack);
      if (value !== 0) stack.push(value);
      if (wanted !== null && place.off > 0.2) moving = true;
    }
  });
  return { byPrefix, moving };
};

/**
 * Return the prefix before the numbers of the tiles in classes and attributes, or null without a prefix.
 *
 * @param {LatticeBoard} board
 * @returns {string | null}
 */
export const prefixOf = (board) => {
  const count = board.lattice.rows * board.lattice.columns;
  /** @type {{ prefix: string, score: number } | null} */
  let best = null;
  for (const [prefix, cells] of readTokens(board, null).byPrefix) {
    const values = [...cells.values()].flat();
    const taken = [...cells.values()].filter((stack) => stack.length).length;
    if (!values.length || taken >= count || POSITION_NAME.test(prefix.replace(/=$/, ""))) continue;
    if (!values.every((value) => value >= 2 && isPower(value))) continue;
    const named = /(tile|val|num|block|field|piece|level|power|^n|^v)/i.test(prefix) ? 100 : 0;
    if (!best || named + taken > best.score) best = { prefix, score: named + taken };
  }
  return best?.prefix ?? null;
};

/**
 * Return a key for the look of each cell.
 *
 * @param {LatticeBoard} board
 */
export const readLooks = (board) => {
  /** @type {Map<number, { element: Element, look: string, height: number }>} */
  const tops = new Map();
  let moving = false;
  cellElements(board, 0.02, (element, place, box) => {
    const outer = tops.get(place.cell);
    const isDetail = box.w < 0.3 * board.lattice.w || box.h < 0.3 * board.lattice.h;
    if (isDetail && !(outer && contains(outer.element, element))) return;
    const look = lookOf(element, board.bare ?? false);
    if (!look) return;
    if (outer && contains(outer.element, element)) {
      outer.look += `>${look}`;
      return;
    }
    const height = Number(getComputedStyle(element).zIndex) || 0;
    if (place.off > 0.2) moving = true;
    if (!outer || height >= outer.height) tops.set(place.cell, { element, look, height });
  });
  const count = board.lattice.rows * board.lattice.columns;
  const looks = Array.from({ length: count }, (_, cell) => {
    const top = tops.get(cell);
    return top ? hash(top.look) : "-";
  });
  return { looks, moving };
};

const SCORE_NAME = /(^|[^a-z])(current[-_]?)?(score|points|punkte|puntos)/i;
const NOT_SCORE = /best|high|max|top|record|hi-?score|board|add/i;
const SAYS_SCORE = /^(score|points)\s*:?\s*\d/i;

/** Return the element that shows the score: by its name, or by the word beside it. */
export const findScore = () =>
  firstElement((element) => {
    if (NOT_BOXES.has(element.localName) || element.childElementCount > 3) return false;
    const text = (element.textContent ?? "").trim();
    if (text.length > 40 || !/\d/.test(text)) return false;
    const name = namesOf(element);
    if (NOT_SCORE.test(name) || NOT_SCORE.test(text)) return false;
    return (SCORE_NAME.test(name) || SAYS_SCORE.test(text)) && isVisible(element);
  });

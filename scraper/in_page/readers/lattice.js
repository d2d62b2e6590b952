// Reads boards made of boxes: a grid in row order, a table, or tiles that lie over a grid or are moved by transforms,
// in the document and in open shadow roots. The names in the page do not matter. The board is the largest full, evenly
// spaced rectangle of boxes of one size, and a tile belongs to the cell that holds the centre of its box.

/** @import { Find, Lattice, LatticeBoard, Reader } from "../types.js" */

import { contains, digitsOf, walk } from "../dom.js";
import { boxOf, groupsBySize, isTurned, layFlat, rectOf, squareBoxes } from "./boxes.js";
import {
  findScore,
  inspectText,
  makeBoard,
  prefixOf,
  readLooks,
  readText,
  readTokens,
  shiftOf,
} from "./lattice_cells.js";
import { isHoneycomb, latticesIn, looseLattices } from "./lattices.js";
import { linesOf, readStructure, readWritten, structuredBoard, writtenBoard } from "./ordered_boards.js";
import { shiftedLattices } from "./shifted_lattices.js";
import { isPower } from "./values.js";

/**
 * Where the values of tiles come from.
 *
 * @typedef {"text" | "classes" | "looks"} Mode
 */

/** Slides by scripts take less time than this. */
const AMISS_MS = 1000;

/** @param {Element} scope */
const animates = (scope) =>
  scope
    .getAnimations({ subtree: true })
    .some(
      (animation) =>
        (animation.playState === "running" || animation.pending) &&
        Number.isFinite(animation.effect?.getComputedTiming().endTime),
    );

// -- values ----------------------------------------------------------------------------------------------

/**
 * The known values of tiles.
 *
 * @typedef {object} Known
 * @property {Record<string, number>} labels the face values of looks
 * @property {boolean} ranked whether tiles show exponents: 1, 2, 3 for 2, 4, 8
 */

/**
 * @typedef {object} Seen
 * @property {number[]} cells
 * @property {boolean} sure
 * @property {boolean} moving
 * @property {number[]} odd
 * @property {boolean} [merging]
 * @property {string[]} [looks]
 */

/** @param {number[]} stack */
const isPair = (stack) => stack.filter((value) => value === Math.max(...stack)).length > 1;

/**
 * @param {LatticeBoard} board
 * @param {Known} known
 * @returns {Seen}
 */
const cellsByText = (board, known) => {
  board.ranked = known.ranked;
  const ordered = board.written ? readWritten(board) : board.structured ? readStructure(board) : null;
  const { stacks, odd, moving } = ordered ?? readText(board);
  return {
    cells: stacks.map((stack) => (stack.length ? Math.max(...stack) : 0)),
    merging: stacks.some(isPair),
    sure: stacks.every((stack) => stack.length < 2),
    moving,
    odd,
  };
};

/**
 * @param {LatticeBoard} board
 * @returns {Seen}
 */
const cellsByClasses = (board) => {
  const seen = readTokens(board, board.prefix);
  const stacks = seen.byPrefix.get(board.prefix ?? "");
  const count = board.lattice.rows * board.lattice.columns;
  const cells = Array.from({ length: count }, (_, cell) => Math.max(0, ...(stacks?.get(cell) ?? [])));
  const odd = cells.filter((value) => value && !isPower(value));
  return { cells, moving: seen.moving, odd, sure: false };
};

/**
 * @param {LatticeBoard} board
 * @param {Known} known
 * @returns {Seen}
 */
const cellsByLooks = (board, known) => {
  const { looks, moving } = readLooks(board);
  /** @type {Map<string, number>} */
  const unknown = new Map();
  const cells = looks.map((look) => {
    if (Object.hasOwn(known.labels, look)) return known.labels[look];
    const sign = unknown.get(look) ?? -1 - unknown.size;
    unknown.set(look, sign);
    return sign;
  });
  return { cells, looks, moving, odd: [], sure: false };
};

const CELLS = { text: cellsByText, classes: cellsByClasses, looks: cellsByLooks };

// -- evidence --------------------------------------------------------------------------------------------

/** @param {LatticeBoard} board */
const evidenceByText = (board) => {
  board.dress = null;
  let seen = inspectText(board);
  if (seen.dress) {
    board.dress = seen.dress;
    seen = inspectText(board);
  }
  // Small text in each cell is the name of the cell.
  const isLabelled = seen.odd.length > 0 || seen.words > 2 || seen.stacks.every((stack) => stack.length);
  const large = Math.max(...seen.fonts);
  if (isLabelled && Math.min(...seen.fonts) < 0.6 * large) {
    board.leastFont = 0.6 * large;
    seen = inspectText(board);
  }
  const { stacks, odd, words, named, small } = seen;
  const count = stacks.length;
  const tiles = stacks.filter((stack) => stack.length);
  board.odd = odd;
  // Boxes with a word and a number show points, moves or time. A mostly empty board may have words beside its
  // numbers, but not larger than them.
  const isRoomy = count >= 9 && tiles.length <= 0.6 * count && !small;
  if (odd.length || !tiles.length || words > 2 || (2 * named > tiles.length && !isRoomy)) return 0;
  if (tiles.length < count) return 3;
  const values = new Set(tiles.map((stack) => Math.max(...stack)));
  return values.size === count || count < 9 ? 0 : 2;
};

/** @param {LatticeBoard} board */
const evidenceByClasses = (board) => {
  board.prefix = prefixOf(board);
  return board.prefix === null ? 0 : 3;
};

/** @param {LatticeBoard} board */
const evidenceByLooks = (board) => {
  const count = board.lattice.rows * board.lattice.columns;
  for (const bare of [false, true]) {
    board.bare = bare;
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const look of readLooks(board).looks) counts.set(look, (counts.get(look) ?? 0) + 1);
    const most = Math.max(...counts.values());
    // If most of the board looks alike only without its background, the pictures on it are the tiles.
    if (counts.size >= 2 && counts.size <= 4 && most >= 0.5 * count) return bare ? 2 : 3;
  }
  return 0;
};

/** The evidence for a lattice: 3 for tiles and empty cells, 2 for tiles only, 0 for none. */
const EVIDENCE = { text: evidenceByText, classes: evidenceByClasses, looks: evidenceByLooks };

// -- choosing --------------------------------------------------------------------------------------------

/**
 * Return whether a lattice is only a part of a board of rows: the cells that happen to have the same size.
 *
 * @param {LatticeBoard} part
 * @param {LatticeBoard} whole
 */
const isPartOf = ({ lattice }, whole) =>
  lattice.boxes.length < whole.lattice.rows * whole.lattice.columns &&
  lattice.boxes.every((box) => contains(whole.scope, box.element));

/**
 * Return whether another board of the same size lies beside this one.
 *
 * @param {LatticeBoard} board
 * @param {LatticeBoard} other
 */
const isRivalOf = ({ lattice }, { lattice: other }) =>
  lattice.rows * lattice.columns >= 9 &&
  isOfSize(other, lattice) &&
  (Math.abs(other.x - lattice.x) > (lattice.columns - 0.5) * lattice.px ||
    Math.abs(other.y - lattice.y) > (lattice.rows - 0.5) * lattice.py);

/**
 * @param {{ rows: number, columns: number }} one
 * @param {{ rows: number, columns: number }} other
 */
const isOfSize = (one, other) => one.rows === other.rows && one.columns === other.columns;

/**
 * Finds the best board among the lattices of the page, for one mode.
 */
class Choice {
  /**
   * @param {Mode} mode
   * @param {(lattice: Lattice) => boolean} isSkipped
   * @param {LatticeBoard | null} known a board that was read before; a board of its size wins, even with less
   *   evidence
   */
  constructor(mode, isSkipped, known) {
    this.mode = mode;
    this.isSkipped = isSkipped;
    this.known = known;
    /** @type {{ board: LatticeBoard, evidence: number, size: number } | null} */
    this.best = null;
    /** @type {string | null} */
    this.why = null;
    /** @type {LatticeBoard[]} */
    this.boards = [];
  }

  /**
   * @param {Lattice} lattice
   * @param {Lattice["boxes"]} boxes all boxes that were looked at
   */
  consider(lattice, boxes) {
    if (this.isSkipped(lattice)) return;
    lattice.allBoxes = boxes;
    const board = makeBoard(lattice);
    let evidence = EVIDENCE[this.mode](board);
    if (this.known && isOfSize(lattice, this.known.lattice)) evidence += 4;
    const isSquare = lattice.rows === lattice.columns;
    const size = lattice.rows * lattice.columns * (isSquare ? 1.5 : 1);
    if (board.odd?.length && size > 6 && (lattice.w / lattice.h < 1.43 || isSquare)) {
      const shown = [...new Set(board.odd)].slice(0, 4).join(", ");
      this.why ??= `its tiles show ${shown}, not powers of two`;
    }
    if (!evidence) return;
    this.boards.push(board);
    const { best } = this;
    if (!best || evidence > best.evidence || (evidence === best.evidence && size > best.size)) {
      this.best = { board, evidence, size };
    }
  }

  /** @returns {{ board: LatticeBoard | null, why: string | null }} */
  made() {
    let boxes = squareBoxes(0.7, 1.43);
    const groups = groupsBySize(boxes);
    for (const lattice of groups.flatMap(latticesIn)) this.consider(lattice, boxes);
    if (!this.best && !this.why) {
      boxes = squareBoxes(0.4, 2.5);
      for (const lattice of groupsBySize(boxes).flatMap(latticesIn)) this.consider(lattice, boxes);
    }
    if (!this.best && !this.why && this.mode === "text") {
      for (const lattice of shiftedLattices(squareBoxes(0.7, 1.43))) this.consider(lattice, boxes);
    }
    let board = this.best?.board ?? null;
    if (this.mode === "text") {
      const ordered = this.unskipped(structuredBoard());
      if (ordered && (!board || isPartOf(board, ordered))) board = ordered;
      if (!board && !this.why) {
        for (const lattice of looseLattices(groups)) this.consider(lattice, boxes);
        board = this.best?.board ?? null;
      }
      board ??= this.unskipped(writtenBoard());
    }
    if (!board && groups.some(isHoneycomb)) this.why = "its cells form a honeycomb, not a square grid";
    const chosen = board;
    if (chosen) chosen.rivals = this.boards.some((other) => isRivalOf(chosen, other));
    return { board, why: this.why };
  }

  /** @param {LatticeBoard | null} board */
  unskipped(board) {
    return board && !this.isSkipped(board.lattice) ? board : null;
  }
}

// -- the reader ------------------------------------------------------------------------------------------

/** Finds and reads the boards of one document, for one mode. */
class LatticeReader {
  /** @param {Mode} mode */
  constructor(mode) {
    this.mode = mode;
    /** @type {Known} */
    this.known = { labels: {}, ranked: false };
    /** @type {Lattice[]} boards that were looked at and are not the one that is played */
    this.skipped = [];
  }

  /**
   * @param {LatticeBoard | null} known
   * @returns {{ board: LatticeBoard | null, why: string | null }}
   */
  choose(known) {
    /** @type {(lattice: Lattice) => boolean} */
    const isSkipped = (lattice) => this.skipped.some((other) => isSame(other, lattice));
    const chosen = () => new Choice(this.mode, isSkipped, known).made();
    layFlat(false);
    const upright = known?.isTurned ? { board: null, why: null } : chosen();
    if (upright.board || !isTurned()) return upright;
    layFlat(true);
    const turned = chosen();
    if (turned.board) turned.board.isTurned = true;
    return turned.board ? turned : upright;
  }

  /** @type {Find} */
  find() {
    const { board, why } = this.choose(null);
    if (!board) return why ? { why } : null;
    return new BoardWatch(this, board).reader();
  }
}

/**
 * Return whether two lattices are the same board of the page, at any scroll position.
 *
 * @param {Lattice} other in the coordinates of the page
 * @param {Lattice} lattice in those of the window
 */
const isSame = (other, lattice) =>
  isOfSize(other, lattice) &&
  Math.abs(other.x - lattice.x - scrollX) < 0.5 * lattice.px &&
  Math.abs(other.y - lattice.y - scrollY) < 0.5 * lattice.py;

/** Reads one board, and finds it again if the page replaces it. */
class BoardWatch {
  /**
   * @param {LatticeReader} readers
   * @param {LatticeBoard} board
   */
  constructor(readers, board) {
    this.readers = readers;
    this.board = board;
    this.score = findScore();
    /** Since when the board has looked wrong; 0 while it looks right. */
    this.amissSince = 0;
  }

  /** @returns {Reader} */
  reader() {
    return {
      read: () => this.read(),
      region: () => this.region(),
      isAlive: () => this.board.scope.isConnected,
      roots: () => this.roots(),
      learn: (labels, ranks) => {
        this.readers.known = { labels: labels ?? {}, ranked: ranks ?? false };
      },
      skip: () => this.skip(),
      unskip: () => {
        this.readers.skipped = [];
      },
    };
  }

  get isThere() {
    const { board } = this;
    if (!board.scope.isConnected) return false;
    if (board.written) return readWritten(board) !== null;
    if (board.structured) return linesOf(board.scope, board.isFlat).length === board.lattice.rows;
    const box = rectOf(board.scope);
    return Math.abs(box.width - board.home.width) < 2 && Math.abs(box.height - board.home.height) < 2;
  }

  /** Whether the cells stay in place. Moving tiles lie between the cells and form other lattices for a while. */
  get keepsCells() {
    const { boxes } = this.board.lattice;
    const shift = shiftOf(this.board);
    return (
      boxes.length > 0 &&
      boxes.every(({ element, x, y }) => {
        const now = boxOf(element);
        return element.isConnected && Math.abs(now.x - x - shift.x) < 2 && Math.abs(now.y - y - shift.y) < 2;
      })
    );
  }

  lookAnew() {
    this.amissSince = 0;
    const found = this.readers.choose(this.board).board;
    layFlat(this.board.isTurned ?? false);
    if (!found) return;
    if (!isOfSize(found.lattice, this.board.lattice) && this.isThere && this.keepsCells) return;
    if (this.board.prefix !== null) found.prefix = this.board.prefix;
    this.board = found;
    layFlat(found.isTurned ?? false);
  }

  /** @type {Reader["read"]} */
  read() {
    layFlat(this.board.isTurned ?? false);
    const isAmissForLong = this.amissSince && performance.now() - this.amissSince > AMISS_MS;
    if (!this.isThere || isAmissForLong) this.lookAnew();
    const { lattice, scope, rivals } = this.board;
    const seen = CELLS[this.readers.mode](this.board, this.readers.known);
    if (this.score && !this.score.isConnected) this.score = findScore();
    const animated = animates(scope);
    const moving = seen.moving || animated;
    // If all cells are empty, or tiles lie between the cells for long, the page has replaced the board.
    const isAmiss = seen.cells.every((value) => value === 0) || (seen.moving && !animated);
    this.amissSince = isAmiss ? this.amissSince || performance.now() : 0;
    return {
      rows: lattice.rows,
      columns: lattice.columns,
      cells: seen.cells,
      looks: seen.looks ?? null,
      sure: seen.sure && !moving,
      moving,
      merging: seen.merging ?? false,
      rivals: rivals ?? false,
      odd: seen.odd.slice(0, 8),
      score: digitsOf(this.score, 16),
      best: null,
      won: false,
      over: false,
    };
  }

  region() {
    const { lattice, scope } = this.board;
    const seen = scope.getBoundingClientRect();
    const middle = { x: seen.left + seen.width / 2, y: seen.top + seen.height / 2 };
    if (middle.x < 0 || middle.y < 0 || middle.x > innerWidth || middle.y > innerHeight) {
      scope.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    }
    if (this.board.isTurned) {
      const { left, top, width, height } = scope.getBoundingClientRect();
      return { x: left, y: top, width, height };
    }
    layFlat(false);
    const shift = shiftOf(this.board);
    return {
      x: lattice.x + shift.x - lattice.px / 2,
      y: lattice.y + shift.y - lattice.py / 2,
      width: lattice.columns * lattice.px,
      height: lattice.rows * lattice.py,
    };
  }

  skip() {
    const { lattice, isTurned: turned } = this.board;
    layFlat(turned ?? false);
    const shift = shiftOf(this.board);
    const [x, y] = [lattice.x + shift.x + scrollX, lattice.y + shift.y + scrollY];
    this.readers.skipped.push({ ...lattice, x, y });
  }

  roots() {
    const { scope } = this.board;
    /** @type {Set<Node>} */
    const found = new Set();
    for (let node = /** @type {Element | null} */ (scope); node; ) {
      const root = node.getRootNode();
      found.add(root);
      node = root instanceof ShadowRoot ? root.host : null;
    }
    if (scope.shadowRoot) found.add(scope.shadowRoot);
    walk(scope, (element) => {
      if (element.shadowRoot) found.add(element.shadowRoot);
    });
    return [...found];
  }
}

/**
 * Make a function that finds boards of boxes.
 *
 * @param {Mode} mode
 * @returns {Find}
 */
export const latticeReader = (mode) => {
  const readers = new LatticeReader(mode);
  return () => readers.find();
};

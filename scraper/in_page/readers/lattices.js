// Finds boxes that form the even rectangle of a board.

/** @import { Group, Lattice, Point } from "../types.js" */

import { parentOf } from "../dom.js";
import { MAX_SIDE, rectOf } from "./boxes.js";
import { isPower, numberIn } from "./values.js";

/**
 * Return the largest full rectangle with a box of the group at its top left.
 *
 * @param {Point} origin
 * @param {Group} group
 * @returns {Lattice | null}
 */
const rectangleAt = (origin, { w, h, points }) => {
  /** @type {(x: number, y: number) => Point | undefined} */
  const at = (x, y) => points.find((p) => Math.abs(p.x - x) < 0.12 * w && Math.abs(p.y - y) < 0.12 * h);
  let px = Number.POSITIVE_INFINITY;
  let py = Number.POSITIVE_INFINITY;
  for (const p of points) {
    const dx = p.x - origin.x;
    const dy = p.y - origin.y;
    if (Math.abs(dy) < 0.12 * h && dx > 0.85 * w && dx < px) px = dx;
    if (Math.abs(dx) < 0.12 * w && dy > 0.85 * h && dy < py) py = dy;
  }
  if (px > 1.8 * w || py > 1.8 * h) return null;
  /** @type {Lattice | null} */
  let best = null;
  let width = Number.POSITIVE_INFINITY;
  /** @type {Point[][]} */
  const boxes = [];
  for (let row = 0; row < 2 * MAX_SIDE; row += 1) {
    /** @type {Point[]} */
    const line = [];
    while (line.length < width && line.length < 2 * MAX_SIDE) {
      const box = at(origin.x + line.length * px, origin.y + row * py);
      if (!box) break;
      line.push(box);
    }
    width = Math.min(width, line.length);
    if (width < 2) break;
    boxes.push(line);
    if (row > 0 && (!best || (row + 1) * width > best.rows * best.columns)) {
      const used = boxes.map((one) => one.slice(0, width));
      best = { x: origin.x, y: origin.y, px, py, w, h, rows: row + 1, columns: width, boxes: used.flat() };
    }
  }
  return best;
};

/**
 * Return whether boxes of the group lie between the cells of the rectangle, as in a honeycomb.
 *
 * @param {Lattice} lattice
 * @param {Point[]} points
 */
const isShifted = (lattice, points) =>
  points.some((p) => {
    const column = (p.x - lattice.x) / lattice.px;
    const row = (p.y - lattice.y) / lattice.py;
    const isBeside = column > lattice.columns - 0.6 || row > lattice.rows - 0.6;
    if (column < -0.4 || row < -0.4 || isBeside) return false;
    return Math.abs(column - Math.round(column)) > 0.3 || Math.abs(row - Math.round(row)) > 0.3;
  });

/**
 * Return whether most boxes are shifted by half a box against the next row or column.
 *
 * @param {Group} group
 */
export const isHoneycomb = ({ w, h, points }) => {
  if (points.length < 7) return false;
  const shifted = points.filter((p) =>
    points.some((o) => {
      const dx = Math.abs(o.x - p.x) / w;
      const dy = Math.abs(o.y - p.y) / h;
      return (
        (dx > 0.4 && dx < 0.75 && dy > 0.6 && dy < 1.1) || (dy > 0.4 && dy < 0.75 && dx > 0.6 && dx < 1.1)
      );
    }),
  );
  return shifted.length >= 0.8 * points.length;
};

/**
 * Return the square in a rectangle, if there is one. Boxes in line with a board and as large as its cells (scores
 * above, buttons below) form one rectangle with it. If the boxes of one kind form a square, that is the board.
 *
 * @param {Lattice} lattice
 * @returns {Lattice}
 */
const squareOf = (lattice) => {
  const { rows, columns, boxes } = lattice;
  if (rows === columns || Math.min(rows, columns) < 3) return lattice;
  /** @type {(Element | null)[]} */
  const holders = [];
  /** @type {(element: Element) => number} */
  const holderOf = (element) => {
    const parent = parentOf(element);
    if (!holders.includes(parent)) holders.push(parent);
    return holders.indexOf(parent);
  };
  /** @type {((element: Element) => string | number)[]} */
  const kinds = [
    (element) => element.localName,
    holderOf,
    (element) => `${element.localName} in ${holderOf(element)}`,
    (element) => holderOf(parentOf(element) ?? element),
  ];
  for (const kindOf of kinds) {
    /** @type {Map<string | number, number[]>} */
    const parts = new Map();
    boxes.forEach(({ element }, index) => {
      const kind = kindOf(element);
      parts.set(kind, [...(parts.get(kind) ?? []), index]);
    });
    for (const part of parts.values()) {
      const side = Math.sqrt(part.length);
      if (side < 3 || side !== Math.min(rows, columns)) continue;
      const row = Math.floor(part[0] / columns);
      const column = part[0] % columns;
      const corner = row * columns + column;
      const isSquare = part.every(
        (index, i) => index === corner + Math.floor(i / side) * columns + (i % side),
      );
      if (!isSquare) continue;
      const [x, y] = [lattice.x + column * lattice.px, lattice.y + row * lattice.py];
      return { ...lattice, rows: side, columns: side, x, y, boxes: part.map((index) => boxes[index]) };
    }
  }
  return lattice;
};

/**
 * Return the even rectangles that boxes of one size form.
 *
 * @param {Group} group
 */
export const latticesIn = (group) => {
  /** @type {Lattice[]} */
  const found = [];
  let points = group.points;
  for (let round = 0; round < 3 && points.length >= 4; round += 1) {
    /** @type {Lattice | null} */
    let best = null;
    for (const origin of points) {
      const lattice = rectangleAt(origin, { ...group, points });
      if (lattice && (!best || lattice.boxes.length > best.boxes.length)) best = lattice;
    }
    if (!best) break;
    const used = new Set(best.boxes);
    const isSmall = best.rows <= MAX_SIDE && best.columns <= MAX_SIDE;
    if (isSmall && !isShifted(best, group.points)) found.push(squareOf(best));
    points = points.filter((p) => !used.has(p));
  }
  return found;
};

/**
 * Find a board that draws only its tiles: the board is the box around them, and its cells divide it evenly.
 *
 * @param {Group[]} groups
 */
export const looseLattices = (groups) => {
  /** @type {Lattice[]} */
  const found = [];
  for (const { w, h, points } of groups) {
    const tiles = points.filter((p) => isPower(numberIn((p.element.textContent ?? "").trim())));
    if (!tiles.length || tiles.length > MAX_SIDE * MAX_SIDE) continue;
    let around = parentOf(tiles[0].element);
    for (let depth = 0; around && depth < 4; depth += 1, around = parentOf(around)) {
      const inner = insideOf(around);
      if (inner.width < 1.9 * w || inner.height < 1.9 * h) continue;
      const [xs, ys] = [tiles.map((p) => p.x), tiles.map((p) => p.y)];
      const across = axis({ start: inner.left, length: inner.width, side: w, centres: xs });
      const down = axis({ start: inner.top, length: inner.height, side: h, centres: ys });
      if (!across || !down) continue;
      found.push({
        x: across.first,
        y: down.first,
        px: across.pitch,
        py: down.pitch,
        w,
        h,
        rows: down.count,
        columns: across.count,
        boxes: tiles,
        around,
      });
      break;
    }
  }
  return found;
};

/**
 * Return an element's box without its border.
 *
 * @param {Element} element
 */
const insideOf = (element) => {
  const frame = rectOf(element);
  const style = getComputedStyle(element);
  return {
    left: frame.left + Number.parseFloat(style.borderLeftWidth),
    top: frame.top + Number.parseFloat(style.borderTopWidth),
    width: element.clientWidth || frame.width,
    height: element.clientHeight || frame.height,
  };
};

/**
 * @typedef {object} Span one direction of a board that draws no cells
 * @property {number} start where it begins
 * @property {number} length
 * @property {number} side of a tile
 * @property {number[]} centres of its tiles
 */

/** @param {Span} span */
const axis = (span) => axisBy(span, evenGaps) ?? axisBy(span, paddedGaps);

/**
 * Return pairs of a gap between cells and a gap around them: equal gaps, only between, or half a gap around.
 *
 * @param {number} spare
 * @param {number} count
 */
const evenGaps = (spare, count) => [
  [spare / (count + 1), spare / (count + 1)],
  [spare / (count - 1), 0],
  [spare / count, spare / count / 2],
];

/**
 * Return pairs of a gap between cells and any padding around them.
 *
 * @param {number} spare
 * @param {number} count
 * @param {number} side
 */
const paddedGaps = (spare, count, side) => {
  const gaps = [];
  for (let gap = 0; gap <= 0.3 * side; gap += 0.5) gaps.push([gap, (spare - gap * (count - 1)) / 2]);
  return gaps;
};

/**
 * Return the number of cells, the centre of the first and the pitch, if all tiles stand on cells.
 *
 * @param {Span} span
 * @param {(spare: number, count: number, side: number) => number[][]} gapsOf
 */
const axisBy = ({ start, length, side, centres }, gapsOf) => {
  for (let count = Math.min(MAX_SIDE, Math.floor(length / side + 0.05)); count >= 2; count -= 1) {
    for (const [gap, outer] of gapsOf(length - count * side, count, side)) {
      if (gap > 0.35 * side || gap < -0.02 * side || outer < -1 || outer > 0.6 * side) continue;
      const first = start + outer + side / 2;
      const pitch = side + gap;
      const fits = centres.every((c) => {
        const place = (c - first) / pitch;
        return Math.abs(place - Math.round(place)) < 0.06 && place > -0.3 && place < count - 0.7;
      });
      if (fits) return { count, first, pitch };
    }
  }
  return null;
};

// Boards whose tiles are all off their cells by the same length, as where their layer is laid out by another rule.

/** @import { Lattice, Point } from "../types.js" */

import { groupsBySize } from "./boxes.js";
import { latticesIn } from "./lattices.js";
import { isPower, numberIn } from "./values.js";

/** How much the lengths may differ, and how much larger or smaller than a cell a tile may be; shares of a cell. */
const ALIKE = 0.06;
const OF_SIZE = 0.2;
/** Less is the edge of a tile that is somewhat larger or smaller than its cell. */
const LEAST = 0.2;

/** @param {Point} box */
const isTile = ({ element }) => isPower(numberIn((element.textContent ?? "").trim()));

/**
 * By how much all of these are off, in cells, along one axis; null if that differs.
 *
 * @param {number[]} places of the tiles, in cells
 * @param {number} count how many cells there are
 */
const commonShift = (places, count) => {
  const shift = places[0] - Math.round(places[0]);
  // Half a cell one way is half a cell the other way: what leaves all tiles on the board is right.
  for (const one of [shift, shift - Math.sign(shift)]) {
    const isRight = places.every((place) => {
      const cell = Math.round(place - one);
      return Math.abs(place - one - cell) < ALIKE && cell >= 0 && cell < count;
    });
    if (isRight) return one;
  }
  return null;
};

/**
 * The lattices of cells without numbers, moved to where the tiles are.
 *
 * @param {Point[]} boxes all boxes of the page
 * @returns {Lattice[]}
 */
export const shiftedLattices = (boxes) => {
  const tiles = boxes.filter(isTile);
  if (!tiles.length) return [];
  const cells = boxes.filter((box) => !tiles.includes(box));
  return groupsBySize(cells)
    .flatMap(latticesIn)
    .flatMap((lattice) => {
      const { w, h, px, py, rows, columns } = lattice;
      const own = tiles.filter((box) => Math.max(Math.abs(box.w / w - 1), Math.abs(box.h / h - 1)) < OF_SIZE);
      if (!own.length) return [];
      const across = commonShift(
        own.map((box) => (box.x - lattice.x) / px),
        columns,
      );
      const down = commonShift(
        own.map((box) => (box.y - lattice.y) / py),
        rows,
      );
      if (across === null || down === null || Math.max(Math.abs(across), Math.abs(down)) < LEAST) return [];
      return [{ ...lattice, x: lattice.x + across * px, y: lattice.y + down * py }];
    });
};

// Finds boards whose tiles are all off their cells by the same length, because their layer has another layout.

/** @import { Lattice, Point } from "../types.js" */

import { groupsBySize } from "./boxes.js";
import { latticesIn } from "./lattices.js";
import { isPower, numberIn } from "./values.js";

/** How much the lengths may differ, and how much a tile may differ from a cell in size; shares of a cell. */
const ALIKE = 0.06;
const OF_SIZE = 0.2;
/** A smaller length is not a shift: the tile is somewhat larger or smaller than its cell. */
const LEAST = 0.2;

/** @param {Point} box */
const isTile = ({ element }) => isPower(numberIn((element.textContent ?? "").trim()));

/**
 * Return how far all tiles are off, in cells, along one axis; null if they differ.
 *
 * @param {number[]} places of the tiles, in cells
 * @param {number} count how many cells there are
 */
const commonShift = (places, count) => {
  const shift = places[0] - Math.round(places[0]);
  // Half a cell one way equals half a cell the other way; the right one leaves all tiles on the board.
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
 * Return the lattices of cells without numbers, moved to the places of the tiles.
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

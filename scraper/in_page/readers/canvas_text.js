// Reads boards on canvases with numbers drawn as text; a picture has shown where the cells are.

/** @import { CanvasLattice, RawReading, Reader } from "../types.js" */

import { wordsIn } from "../canvas_words.js";
import { canvasCalled, shownCanvases, textsOn } from "../canvases.js";
import { isPower, numberIn } from "./values.js";

/** How far a text may be off its usual place in a cell, as a share of the cell. */
const OFF = 0.12;
/** @param {number[]} numbers */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

/** @implements {Reader} */
class CanvasText {
  /** @param {CanvasLattice} lattice */
  constructor(lattice) {
    this.lattice = lattice;
    this.canvas = canvasCalled(lattice.canvas);
    this.byFrames = true;
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    this.size = `${Math.round(width)} ${Math.round(height)}`;
    this.left = left;
    this.top = top;
    this.canvases = shownCanvases();
    /** @type {[number, number] | null} where texts begin within their cells, if it is the same place in all */
    this.home = null;
    this.home = this.usualStart();
  }

  /** The places of texts within their cells, as shares of the distance between cells. */
  usualStart() {
    const { tiles } = this.tiles();
    if (!tiles.length) return null;
    return /** @type {[number, number]} */ ([
      median(tiles.map(({ starts: [across] }) => across)),
      median(tiles.map(({ starts: [, down] }) => down)),
    ]);
  }

  /** The numbers within the board, each with its cell and its distance from the usual place; and all other texts. */
  tiles() {
    const { lattice } = this;
    const { left, top } = this.canvas.getBoundingClientRect();
    const { x, y, pitchX, pitchY, rows, columns } = lattice;
    const tiles = [];
    const others = [];
    for (const canvas of this.canvases) {
      for (const text of textsOn(canvas)) {
        const value = numberIn(text.text);
        const across = (text.x - left - x) / pitchX;
        const down = (text.y - top - y) / pitchY;
        const [column, row] = [Math.round(across), Math.round(down)];
        if (Number.isNaN(value) || row < 0 || column < 0 || row >= rows || column >= columns) {
          others.push(text);
          continue;
        }
        const starts = [(text.atX - left - x) / pitchX - column, (text.atY - top - y) / pitchY - row];
        tiles.push({ value, cell: row * columns + column, off: [across - column, down - row], starts });
      }
    }
    return { tiles, others };
  }

  /** @returns {RawReading} */
  read() {
    const { rows, columns } = this.lattice;
    const { tiles, others } = this.tiles();
    /** @type {number[][]} */
    const stacks = Array.from({ length: rows * columns }, () => []);
    const odd = [];
    let onTheWay = "";
    for (const { value, cell, off, starts } of tiles) {
      if (!isPower(value)) odd.push(value);
      else stacks[cell].push(value);
      if (!this.isInPlace(off, starts)) onTheWay += ` ${off.map((share) => share.toFixed(2))}`;
    }
    const moving = onTheWay !== "";
    const words = wordsIn(others);
    return {
      rows,
      columns,
      cells: stacks.map((stack) => Math.max(0, ...stack)),
      moving,
      onTheWay,
      merging: stacks.some((stack) => stack.length > 1),
      sure: !moving && !odd.length && stacks.every((stack) => stack.length < 2),
      odd: words.over ? [] : odd.slice(0, 8),
      ...words,
    };
  }

  /**
   * Return whether a text is in the middle of its cell, or begins where other texts begin.
   *
   * @param {number[]} off
   * @param {number[]} starts
   */
  isInPlace(off, starts) {
    return [0, 1].every(
      (axis) => Math.abs(off[axis]) < OFF || (this.home && Math.abs(starts[axis] - this.home[axis]) < OFF),
    );
  }

  isAlive() {
    const { width, height } = this.canvas.getBoundingClientRect();
    return this.canvas.isConnected && this.size === `${Math.round(width)} ${Math.round(height)}`;
  }

  region() {
    const { left, top } = this.canvas.getBoundingClientRect();
    const { x, y, pitchX, pitchY, rows, columns } = this.lattice;
    return {
      x: left + x - pitchX / 2,
      y: top + y - pitchY / 2,
      width: columns * pitchX,
      height: rows * pitchY,
    };
  }
}

/**
 * Return a reader for a board with known cells, if the texts in them make a board.
 *
 * @param {CanvasLattice} lattice
 */
export const canvasTextReader = (lattice) => {
  if (!canvasCalled(lattice.canvas)?.isConnected) return null;
  const reader = new CanvasText(lattice);
  const { cells, odd } = reader.read();
  return odd?.length || !cells.some((value) => value) ? null : reader;
};

// Reads the board that a site profile (docs/pages.md) describes.

/** @import { Find, SiteBoard } from "../types.js" */

import { classesOf, digitsOf, isShown } from "../dom.js";

const ANY_NUMBER = /(\d+)/;

/**
 * Return the face value of a tile; 0 if it has no number.
 *
 * @param {SiteBoard} profile
 * @param {Element} tile
 */
const valueOn = (profile, tile) => {
  const sources = { text: () => tile.textContent, class: () => classesOf(tile) };
  const source = Object.hasOwn(sources, profile.value)
    ? sources[/** @type {"text" | "class"} */ (profile.value)]()
    : tile.getAttribute(profile.value);
  const pattern = profile.pattern ? new RegExp(profile.pattern) : ANY_NUMBER;
  const found = pattern.exec((source ?? "").trim());
  if (!found) return 0;
  const number = Number((found[1] ?? found[0]).replace(/[\s.,]/g, ""));
  if (!profile.ranks) return number;
  return number ? 2 ** number : 0;
};

/**
 * @param {SiteBoard} profile
 * @param {Element} board
 */
const readCells = (profile, board) => {
  const { rows, columns } = profile;
  const area = board.getBoundingClientRect();
  /** @type {number[][]} */
  const stacks = Array.from({ length: rows * columns }, () => []);
  let moving = false;
  for (const tile of board.querySelectorAll(profile.tile)) {
    if (!isShown(tile)) continue;
    const value = valueOn(profile, tile);
    if (!value) continue;
    const box = tile.getBoundingClientRect();
    const column = ((box.left + box.width / 2 - area.left) / area.width) * columns - 0.5;
    const row = ((box.top + box.height / 2 - area.top) / area.height) * rows - 0.5;
    const [c, r] = [Math.round(column), Math.round(row)];
    if (c < 0 || r < 0 || c >= columns || r >= rows) continue;
    if (Math.abs(column - c) > 0.25 || Math.abs(row - r) > 0.25) moving = true;
    stacks[r * columns + c].push(value);
  }
  return { stacks, moving };
};

/**
 * Make a function that finds the board of a profile.
 *
 * @param {SiteBoard} profile
 * @returns {Find}
 */
export const siteReader = (profile) => () => {
  const board = document.querySelector(profile.selector);
  if (!board) return null;
  const { rows, columns } = profile;
  return {
    read: () => {
      const { stacks, moving } = readCells(profile, board);
      return {
        rows,
        columns,
        cells: stacks.map((stack) => Math.max(0, ...stack)),
        moving,
        sure: !moving && stacks.every((stack) => stack.length < 2),
        score: profile.score ? digitsOf(document.querySelector(profile.score), 16) : null,
        best: null,
        won: false,
        over: false,
      };
    },
    region: () => {
      const { left, top, width, height } = board.getBoundingClientRect();
      return { x: left, y: top, width, height };
    },
    isAlive: () => board.isConnected,
  };
};

// Describes a page for a report: the groups of equal boxes on it, and the elements within the board.

import { classesOf, directText, walk } from "./dom.js";

const LEAST_SIDE = 10;
const MOST_ELEMENTS = 400;
const MOST_GROUPS = 8;
const MOST_LINES = 12;

/**
 * @typedef {object} BoxGroup
 * @property {string} size
 * @property {number} count
 * @property {Set<number>} lefts
 * @property {Set<number>} tops
 */

/** @param {Element} element */
const shadowDepth = (element) => {
  let depth = 0;
  let root = element.getRootNode();
  for (; root instanceof ShadowRoot; root = root.host.getRootNode()) depth += 1;
  return depth;
};

/**
 * @param {DOMRect} box
 * @param {[number, number, number, number] | null} region
 */
const isWithin = ({ left, top, width, height }, region) => {
  if (!region) return false;
  const [x, y, w, h] = region;
  return left >= x - 2 && top >= y - 2 && left + width <= x + w + 2 && top + height <= y + h + 2;
};

/**
 * @param {[number, number, number, number] | null} region where the board is: left, top, width, height
 */
export const outlineOf = (region) => {
  /** @type {Map<string, BoxGroup>} */
  const groups = new Map();
  /** @type {object[]} */
  const outline = [];
  walk(document, (element) => {
    const box = element.getBoundingClientRect();
    const { left, top, width, height } = box;
    if (width < LEAST_SIDE || height < LEAST_SIDE) return;
    if (width >= 20 && width <= 400 && width / height > 0.5 && width / height < 2) {
      const size = `${Math.round(width)}x${Math.round(height)}`;
      const group = groups.get(size) ?? { size, count: 0, lefts: new Set(), tops: new Set() };
      group.count += 1;
      group.lefts.add(Math.round(left));
      group.tops.add(Math.round(top));
      groups.set(size, group);
    }
    if (outline.length >= MOST_ELEMENTS || !isWithin(box, region)) return;
    outline.push({
      tag: element.localName,
      class: classesOf(element).slice(0, 80),
      shadow: shadowDepth(element),
      box: [left, top, width, height].map(Math.round),
      text: directText(element).trim().slice(0, 12),
    });
  });
  const candidates = [...groups.values()]
    .filter((group) => group.count >= 4)
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_GROUPS)
    .map(({ size, count, lefts, tops }) => ({
      size,
      count,
      lefts: [...lefts].slice(0, MOST_LINES),
      tops: [...tops].slice(0, MOST_LINES),
    }));
  return { candidates, outline };
};

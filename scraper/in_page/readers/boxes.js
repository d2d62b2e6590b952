// Finds the boxes of a page, their places, and groups of boxes of the same size.

/** @import { Group, Point } from "../types.js" */

import { firstElement, NOT_BOXES, parentOf, walk } from "../dom.js";

const SMALLEST = 14;
const LARGEST = 400;
/** The most rows or columns of a board. */
export const MAX_SIDE = 8;

const SEEN = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
/**
 * Return whether any part of an element is visible.
 *
 * @param {Element} element
 * @returns {boolean}
 */
export const isVisible = (element) =>
  element.checkVisibility(SEEN) ||
  (getComputedStyle(element).display === "contents" && isHeldVisibly(element));

/** @param {Element} element */
const isHeldVisibly = (element) => {
  const parent = parentOf(element);
  return parent !== null && isVisible(parent);
};

// A board that is turned or in perspective has an upright layout. So its boxes are taken from the layout, without the
// transforms.
let laidFlat = false;
/**
 * Take boxes from the layout from now on, or as they are seen.
 *
 * @param {boolean} on
 */
export const layFlat = (on) => {
  laidFlat = on;
};
/** @param {CSSStyleDeclaration} style */
const isTurning = (style) => {
  if (style.rotate !== "none") return true;
  const matrix = style.transform === "none" ? null : new DOMMatrixReadOnly(style.transform);
  if (matrix === null) return false;
  const parts = [matrix.m12, matrix.m21, matrix.m13, matrix.m23, matrix.m14, matrix.m24];
  return parts.some((part) => Math.abs(part) > 1e-4);
};
/** Return whether something large on the page is turned or in perspective. */
export const isTurned = () =>
  firstElement(
    (element) =>
      element instanceof HTMLElement &&
      element.offsetWidth > 100 &&
      element.offsetHeight > 100 &&
      isTurning(getComputedStyle(element)),
  ) !== null;

/**
 * Return the box of an element in the frame's coordinates.
 *
 * @param {Element} element
 * @returns {DOMRect}
 */
export const rectOf = (element) => {
  if (!laidFlat || !(element instanceof HTMLElement)) return element.getBoundingClientRect();
  let left = 0;
  let top = 0;
  for (
    let node = /** @type {Element | null} */ (element);
    node instanceof HTMLElement;
    node = node.offsetParent
  ) {
    const { transform, translate } = getComputedStyle(node);
    left += node.offsetLeft + (node === element ? 0 : node.clientLeft);
    top += node.offsetTop + (node === element ? 0 : node.clientTop);
    if (transform !== "none") {
      const { m41, m42 } = new DOMMatrixReadOnly(transform);
      left += m41;
      top += m42;
    }
    const [x, y] = translate === "none" ? [] : translate.split(" ").map(Number.parseFloat);
    left += x || 0;
    top += y || 0;
  }
  return new DOMRect(left, top, element.offsetWidth, element.offsetHeight);
};

/**
 * Return the same box by its centre.
 *
 * @param {Element} element
 * @returns {Point}
 */
export const boxOf = (element) => {
  const box = rectOf(element);
  return { element, x: box.left + box.width / 2, y: box.top + box.height / 2, w: box.width, h: box.height };
};

/**
 * Return the visible boxes of the page that may be cells or tiles.
 *
 * @param {number} least width by height
 * @param {number} most width by height
 */
export const squareBoxes = (least, most) => {
  /** @type {Point[]} */
  const boxes = [];
  walk(document, (element) => {
    if (NOT_BOXES.has(element.localName)) return;
    const box = boxOf(element);
    if (box.w < SMALLEST || box.h < SMALLEST || box.w > LARGEST || box.h > LARGEST) return;
    const shape = box.w / box.h;
    if (shape < least || shape > most || !isVisible(element)) return;
    boxes.push(box);
  });
  return boxes;
};

/**
 * Group boxes by size; of several boxes at one place keep only the first.
 *
 * @param {Point[]} boxes
 */
export const groupsBySize = (boxes) => {
  /** @type {Group[]} */
  const groups = [];
  for (const box of boxes) {
    const group = groups.find(
      (other) =>
        Math.abs(other.w - box.w) <= Math.max(1.5, 0.04 * other.w) &&
        Math.abs(other.h - box.h) <= Math.max(1.5, 0.04 * other.h),
    );
    if (!group) groups.push({ w: box.w, h: box.h, points: [box] });
    else if (
      group.points.length < 600 &&
      !group.points.some((o) => Math.abs(o.x - box.x) < 0.2 * box.w && Math.abs(o.y - box.y) < 0.2 * box.h)
    )
      group.points.push(box);
  }
  return groups;
};

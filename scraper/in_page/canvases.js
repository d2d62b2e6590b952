// Finds the canvases of the document, their places and the texts drawn on them.

import { isShown, walk } from "./dom.js";

const LEAST_SIDE = 100;
const FIELD = "\u001f";
const NOTE = "\u001e";

/** @import { Box, CanvasLattice, CanvasPlace, DrawnText } from "./types.js" */

/** @type {HTMLCanvasElement[]} the canvases found so far, in order; Python names a canvas by its index */
const known = [];
/** The name of the event that asks for texts; see drawn_text/main.js. */
let question = "";

/**
 * Set the name of the event that asks the page's own world for texts.
 *
 * @param {string} name
 */
export const askBy = (name) => {
  question = name;
};

/** Return all visible canvases, in the order of the document. */
export const shownCanvases = () => {
  /** @type {HTMLCanvasElement[]} */
  const found = [];
  walk(document, (element) => {
    if (element instanceof HTMLCanvasElement && isShown(element)) found.push(element);
  });
  return found;
};

/**
 * Return where a canvas is in its frame, including its border.
 *
 * @param {HTMLCanvasElement} canvas
 * @returns {Box}
 */
const boxOf = (canvas) => {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  return { x: left, y: top, width, height };
};

/**
 * Return where the picture of a canvas is in its frame: within its border and padding.
 *
 * @param {HTMLCanvasElement} canvas
 * @returns {Box}
 */
export const pictureBox = (canvas) => {
  const box = boxOf(canvas);
  const style = getComputedStyle(canvas);
  const across = canvas.offsetWidth ? box.width / canvas.offsetWidth : 1;
  const down = canvas.offsetHeight ? box.height / canvas.offsetHeight : 1;
  /** @param {string} side */
  const edge = (side) =>
    (parseFloat(style.getPropertyValue(`border-${side}-width`)) || 0) +
    (parseFloat(style.getPropertyValue(`padding-${side}`)) || 0);
  return {
    x: box.x + edge("left") * across,
    y: box.y + edge("top") * down,
    width: box.width - (edge("left") + edge("right")) * across,
    height: box.height - (edge("top") + edge("bottom")) * down,
  };
};

/**
 * Return the canvases that are large enough for a board.
 *
 * @returns {CanvasPlace[]}
 */
export const canvasPlaces = () =>
  shownCanvases()
    .map((canvas) => {
      if (!known.includes(canvas)) known.push(canvas);
      return { id: known.indexOf(canvas), ...boxOf(canvas) };
    })
    .filter(({ width, height }) => Math.min(width, height) >= LEAST_SIDE);

/**
 * Return where a canvas is now; null if it has gone.
 *
 * @param {number} id
 */
export const canvasPlace = (id) => {
  const canvas = known[id];
  return canvas?.isConnected ? { id, ...boxOf(canvas) } : null;
};

/** @param {number} id */
export const canvasCalled = (id) => known[id];

/**
 * Ask the page's own world about a canvas; see drawn_text/main.js.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {string} kind what follows the name of the event
 */
const asked = (canvas, kind) => {
  let answer = "";
  /** @param {Event} event */
  const hear = (event) => {
    if (event instanceof CustomEvent && typeof event.detail === "string") answer = event.detail;
  };
  canvas.addEventListener(`${question}!`, hear);
  canvas.dispatchEvent(new Event(question + kind, { composed: true }));
  canvas.removeEventListener(`${question}!`, hear);
  return answer;
};

/**
 * Return the fonts in which the page has drawn numbers on any canvas, with the widths of their outlines.
 *
 * @param {HTMLCanvasElement} canvas
 */
export const fontsUsed = (canvas) => {
  const answer = asked(canvas, "#");
  if (!answer) return [];
  return answer.split(NOTE).map((one) => {
    const [font, outline] = one.split(FIELD);
    return { font, outline: Number(outline) || 0 };
  });
};

/**
 * Return the visible texts that were drawn on a canvas, with their places in the frame.
 *
 * @param {HTMLCanvasElement} canvas
 * @returns {DrawnText[]}
 */
export const textsOn = (canvas) => {
  const answer = asked(canvas, "");
  if (!answer || !canvas.width || !canvas.height) return [];
  const box = pictureBox(canvas);
  const across = box.width / canvas.width;
  const down = box.height / canvas.height;
  return answer.split(NOTE).map((note) => {
    const [text, x, y, atX, atY, height] = note.split(FIELD);
    return {
      text: text.trim(),
      x: box.x + Number(x) * across,
      y: box.y + Number(y) * down,
      atX: box.x + Number(atX) * across,
      atY: box.y + Number(atY) * down,
      height: Number(height) * down,
    };
  });
};

/**
 * Return whether numbers were drawn as text on a board.
 *
 * @param {CanvasLattice} lattice
 */
export const drawsNumbers = ({ canvas: id, x, y, pitchX, pitchY, rows, columns }) => {
  const canvas = canvasCalled(id);
  if (!canvas?.isConnected) return false;
  const { left, top } = canvas.getBoundingClientRect();
  return textsOn(canvas).some((text) => {
    const column = Math.round((text.x - left - x) / pitchX);
    const row = Math.round((text.y - top - y) / pitchY);
    return /^\d+$/.test(text.text) && column >= 0 && row >= 0 && column < columns && row < rows;
  });
};

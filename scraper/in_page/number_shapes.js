// Draws numbers in the fonts that the page has used, to recognise them on a canvas that cannot list its texts.

/** @import { NumberShape } from "./types.js" */

import { asText } from "./base64.js";
import { canvasCalled, fontsUsed } from "./canvases.js";

/** The shape of a number fills a square of this many pixels. */
const SIDE = 20;
/** The height at which a number is drawn before it is made smaller. */
const HEIGHT = 64;
const PIXEL = 4;
const MOST_POWERS = 17;
/** 1 and 3 show that the numbers are not the values of the tiles. */
const NUMBERS = [1, 3, ...Array.from({ length: MOST_POWERS }, (_, power) => 2 ** (power + 1))];
const INKED = 96;

/** @type {Map<string, NumberShape[]>} the shapes drawn so far, by font and outline */
const drawn = new Map();

/**
 * Return the box around the ink in a picture.
 *
 * @param {ImageData} picture
 */
const inkBox = ({ data, width, height }) => {
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0, at = 3; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += PIXEL) {
      if (data[at] < INKED) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = y + 1;
    }
  }
  return { left, top, width: right - left, height: bottom - top };
};

const newPaper = () => document.createElement("canvas").getContext("2d", { willReadFrequently: true });

/**
 * Draw a number, and fit its ink into a square.
 *
 * @param {number} number
 * @param {string} font
 * @param {number} outline the width of the outline of its digits; 0 for none
 * @returns {NumberShape | null}
 */
const shapeOf = (number, font, outline) => {
  const [paper, square] = [newPaper(), newPaper()];
  if (!paper || !square) return null;
  const text = `${number}`;
  paper.font = font;
  const size = paper.measureText(text);
  const scale = HEIGHT / (size.actualBoundingBoxAscent + size.actualBoundingBoxDescent);
  if (!(scale > 0 && scale < HEIGHT)) return null;
  const edge = 4 + outline * scale;
  paper.canvas.width = Math.ceil(size.width * scale + 2 * edge);
  paper.canvas.height = Math.ceil(HEIGHT + 2 * edge);
  paper.font = font;
  paper.setTransform(scale, 0, 0, scale, edge, edge);
  paper.lineWidth = outline;
  paper.lineJoin = "round";
  paper.fillText(text, 0, size.actualBoundingBoxAscent);
  if (outline) paper.strokeText(text, 0, size.actualBoundingBoxAscent);
  const box = inkBox(paper.getImageData(0, 0, paper.canvas.width, paper.canvas.height));
  if (box.width <= 0 || box.height <= 0) return null;
  square.canvas.width = SIDE;
  square.canvas.height = SIDE;
  square.imageSmoothingQuality = "high";
  square.drawImage(paper.canvas, box.left, box.top, box.width, box.height, 0, 0, SIDE, SIDE);
  const { data } = square.getImageData(0, 0, SIDE, SIDE);
  const ink = new Uint8Array(SIDE * SIDE).map((_, at) => data[at * PIXEL + 3]);
  return { number, aspect: box.width / box.height, side: SIDE, ink: asText(ink) };
};

/**
 * Return the shapes of the powers of two, and of 1 and 3, in each font in which the page has drawn numbers.
 *
 * @param {number} id of the canvas with the board
 * @returns {NumberShape[]}
 */
export const numberShapes = (id) => {
  const canvas = canvasCalled(id);
  if (!canvas?.isConnected) return [];
  return fontsUsed(canvas).flatMap(({ font, outline }) => {
    const key = `${outline} ${font}`;
    const shapes =
      drawn.get(key) ??
      NUMBERS.map((number) => shapeOf(number, font, outline)).filter((shape) => shape !== null);
    drawn.set(key, shapes);
    return shapes;
  });
};

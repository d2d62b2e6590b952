// Reads how opaque a canvas is at a point.

import { getter } from "./wrapping.js";

const { apply } = Reflect;
const { floor } = Math;

const Offscreen = globalThis.OffscreenCanvas;

/** Make a function that returns how opaque a canvas is at a point, from 0 to 255; call it before wrapping. */
export const alphaReader = () => {
  const { clearRect, drawImage, getImageData } = OffscreenCanvasRenderingContext2D.prototype;
  const dataOf = getter(ImageData.prototype, "data");
  const { getContext } = OffscreenCanvas.prototype;
  /** @type {any} */
  let paper = null;
  return (/** @type {any} */ source, /** @type {number} */ x, /** @type {number} */ y) => {
    try {
      paper ??= apply(getContext, new Offscreen(1, 1), ["2d", { willReadFrequently: true }]);
      apply(clearRect, paper, [0, 0, 1, 1]);
      apply(drawImage, paper, [source, floor(x), floor(y), 1, 1, 0, 0, 1, 1]);
      return dataOf(apply(getImageData, paper, [0, 0, 1, 1]))[3];
    } catch {
      paper = null; // pictures of other sites are on it
      return 255;
    }
  };
};

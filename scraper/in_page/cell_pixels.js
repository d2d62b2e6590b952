// Reads small pictures of the cells of a board on canvases, in the frame in which they are drawn.

/** @import { CanvasCells, CanvasStill, CellsRequest, StillRequest } from "./types.js" */

import { asText } from "./base64.js";
import { wordsIn } from "./canvas_words.js";
import { canvasCalled, pictureBox, shownCanvases, textsOn } from "./canvases.js";

/** If the browser does not draw the page, frames never come. */
const WITHOUT_FRAMES_MS = 400;
const PIXEL = 4;
/** Each pixel is the mean of FINE × FINE pixels, so that fractions of pixels matter little. */
const FINE = 4;
/** Cells with more pixels across than this are drawn as large as they are read. */
const COARSE = 24;

/** How long after a question or a key each frame of a canvas that forgets its picture (WebGL) is read. */
const FOLLOWED_MS = 1000;
/** The mean difference of a cell that has changed, in grey levels: of all its pixels, or of the most different ones. */
const MEAN_OFF = 1.05;
const MARKED_OFF = 4.9;
/** How many times as long to wait if no key has arrived. */
const WITHOUT_KEY = 3;
/** The share of the most different pixels. */
const MARKED = 0.1;
const INPUTS = ["keydown", "keyup", "pointerup", "touchend"];

/** @type {CanvasRenderingContext2D | null} */
let paper = null;
/** The last frame with a drawing: the key of its request, and the cells. */
let last = { key: "", cells: new Uint8Array() };
/**
 * The request to repeat in each frame. A WebGL canvas shows its drawing for one frame and then forgets it, and this
 * frame may lie between two questions.
 *
 * @type {CellsRequest | null}
 */
let followed = null;
let followedUntil = 0;
let isFollowing = false;
/** When the last key or finger arrived. */
let inputAt = 0;

/**
 * Call back in the next frame, after the page's scripts and before the browser shows the frame. After that the
 * drawing of WebGL is lost. A callback of `requestAnimationFrame` may run before the page's callbacks. A
 * `ResizeObserver` runs after them, and always reports the size of an element that it begins to observe.
 *
 * @param {Element} element
 * @param {() => void} act
 */
const afterDrawing = (element, act) => {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    observer.disconnect();
    clearTimeout(timer);
    act();
  };
  const observer = new ResizeObserver(once);
  const timer = setTimeout(once, WITHOUT_FRAMES_MS);
  requestAnimationFrame(() => {
    if (!isDone) observer.observe(element);
  });
};

/** @param {number} side */
const finenessOf = (side) => (side > COARSE ? 1 : FINE);

/** @param {Uint8ClampedArray} pixels */
const isOneColor = (pixels) => {
  const words = new Uint32Array(pixels.buffer);
  return words.every((word) => word === words[0]);
};

/**
 * Return the means of the pixels, only red, green and blue, in cells row by row. Transparent pixels count as white.
 *
 * @param {Uint8ClampedArray} pixels
 * @param {CellsRequest} request
 * @param {number} pitch pixels from cell to cell
 */
const meansOf = (pixels, { rows, columns, side }, pitch) => {
  const fine = finenessOf(side);
  const wide = columns * pitch;
  const edge = Math.floor((pitch - side * fine) / 2);
  const bytes = new Uint8Array(rows * columns * side * side * 3);
  const count = fine * fine;
  let at = 0;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      for (let y = 0; y < side; y += 1) {
        for (let x = 0; x < side; x += 1, at += 3) {
          let red = 0;
          let green = 0;
          let blue = 0;
          for (let down = 0; down < fine; down += 1) {
            const line = row * pitch + edge + y * fine + down;
            let from = (line * wide + column * pitch + edge + x * fine) * PIXEL;
            for (let across = 0; across < fine; across += 1, from += PIXEL) {
              const alpha = pixels[from + 3] / 255;
              const white = 255 * (1 - alpha);
              red += pixels[from] * alpha + white;
              green += pixels[from + 1] * alpha + white;
              blue += pixels[from + 2] * alpha + white;
            }
          }
          bytes[at] = Math.round(red / count);
          bytes[at + 1] = Math.round(green / count);
          bytes[at + 2] = Math.round(blue / count);
        }
      }
    }
  }
  return bytes;
};

/**
 * Draw all canvases at the place of the board, one over the other, so small that the middle of a cell fills `side`
 * pixels. Return nothing if the page has not drawn in this frame.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {CellsRequest} request
 */
const drawn = (canvas, request) => {
  const { x, y, pitchX, pitchY, width, rows, columns, side } = request;
  const inner = side * finenessOf(side);
  const pitch = inner + 2 * Math.max(1, Math.round((inner * pitchX) / width / 2 - inner / 2));
  paper ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!paper) return null;
  paper.canvas.width = columns * pitch;
  paper.canvas.height = rows * pitch;
  paper.imageSmoothingQuality = "medium";
  const { left, top } = canvas.getBoundingClientRect();
  paper.setTransform(
    pitch / pitchX,
    0,
    0,
    pitch / pitchY,
    (-(left + x - pitchX / 2) * pitch) / pitchX,
    (-(top + y - pitchY / 2) * pitch) / pitchY,
  );
  for (const one of shownCanvases()) {
    if (!one.width || !one.height) continue;
    const box = pictureBox(one);
    paper.drawImage(one, box.x, box.y, box.width, box.height);
  }
  const { data } = paper.getImageData(0, 0, columns * pitch, rows * pitch);
  return isOneColor(data) ? null : meansOf(data, request, pitch);
};

/**
 * Read a frame.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {CellsRequest} request
 * @returns {boolean} whether the browser allows it
 */
const readFrame = (canvas, request) => {
  try {
    const cells = drawn(canvas, request);
    if (cells) last = { key: JSON.stringify(request), cells };
    else followed = request;
    return true;
  } catch {
    paper = null; // our canvas holds a picture of another site, so it cannot be read any more
    return false;
  }
};

/**
 * Return whether a cell differs between two frames; see `difference` in Python.
 *
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 * @param {CellsRequest} request
 */
const differ = (one, other, { side }) => {
  if (one.length !== other.length) return true;
  const count = side * side;
  const offs = new Uint16Array(count);
  for (let cell = 0; cell < one.length; cell += 3 * count) {
    let sum = 0;
    for (let pixel = 0, at = cell; pixel < count; pixel += 1, at += 3) {
      const off =
        Math.abs(one[at] - other[at]) +
        Math.abs(one[at + 1] - other[at + 1]) +
        Math.abs(one[at + 2] - other[at + 2]);
      offs[pixel] = off;
      sum += off;
    }
    if (sum === 0) continue;
    if (sum >= 3 * count * MEAN_OFF) return true;
    let marked = 0;
    for (const off of offs.sort().subarray(count - Math.floor(count * MARKED))) marked += off;
    if (marked >= 3 * Math.floor(count * MARKED) * MARKED_OFF) return true;
  }
  return false;
};

const hearInput = () => {
  inputAt = performance.now();
  follow();
};

const follow = () => {
  followedUntil = performance.now() + FOLLOWED_MS;
  if (followed && !isFollowing) followFrame(followed);
};

/** @param {CellsRequest} request */
const followFrame = (request) => {
  const canvas = canvasCalled(request.canvas);
  isFollowing = canvas.isConnected && performance.now() < followedUntil;
  if (!isFollowing) return;
  afterDrawing(canvas, () => {
    readFrame(canvas, request);
    followFrame(followed ?? request);
  });
};

/**
 * Begin to follow the drawing, and return the canvas; null if it has gone.
 *
 * @param {CellsRequest} request
 */
const begun = (request) => {
  const canvas = canvasCalled(request.canvas);
  if (!canvas?.isConnected) return null;
  // A second call with the same function adds no second listener.
  for (const type of INPUTS) window.addEventListener(type, hearInput, { capture: true, passive: true });
  return canvas;
};

/**
 * @param {HTMLCanvasElement} canvas
 * @param {CellsRequest} request
 * @param {boolean} closed
 * @returns {CanvasCells}
 */
const answerOf = (canvas, request, closed) => {
  const { width, height } = canvas.getBoundingClientRect();
  const cells = closed || last.key !== JSON.stringify(request) ? null : asText(last.cells);
  return { cells, closed, width, height, words: wordsIn(shownCanvases().flatMap(textsOn)) };
};

/**
 * Resolve in the next frame with the cells of a board. There are no cells if the canvas shows pictures of other sites,
 * or if the page has drawn nothing since the first request.
 *
 * @param {CellsRequest} request
 * @returns {Promise<CanvasCells>}
 */
export const canvasCells = (request) =>
  new Promise((resolve) => {
    const canvas = begun(request);
    if (!canvas) {
      resolve({ cells: null, closed: false, width: 0, height: 0 });
      return;
    }
    afterDrawing(canvas, () => {
      const closed = !readFrame(canvas, request);
      follow();
      resolve(answerOf(canvas, request, closed));
    });
  });

/** How long the cells have looked the same, over all questions; see `canvasStill`. */
const rest = {
  key: "",
  cells: new Uint8Array(),
  /** The cells at the end of the last wait with a result. */
  old: new Uint8Array(),
  since: 0,
  frames: 0,
  answeredAt: 0,
  /** A key that arrived after this time belongs to the question. */
  heardFrom: 0,
};

/**
 * Note a frame; return whether its cells differ from those of the frame before.
 *
 * @param {CellsRequest} request
 */
const noteFrame = (request) => {
  const { key, cells } = last;
  const isNew = key !== rest.key || differ(rest.cells, cells, request);
  if (isNew) {
    rest.since = performance.now();
    rest.frames = 0;
  }
  rest.key = key;
  rest.cells = cells;
  rest.frames += 1;
  return isNew;
};

/**
 * Return whether nothing has changed for a number of milliseconds since the key arrived. A key that has not arrived may
 * be on its way, or the page may hide it from us.
 *
 * @param {number} now
 * @param {number} ms
 */
const isIdle = (now, ms) =>
  inputAt > rest.heardFrom ? now - Math.max(rest.since, inputAt) >= ms : now - rest.since >= WITHOUT_KEY * ms;

/**
 * Resolve when the cells of a board have looked the same for a number of frames and milliseconds, after they have
 * changed since the end of the last wait. Without such a change the other number of frames and milliseconds counts. The
 * first wait of a question counts from its beginning.
 *
 * @param {CellsRequest} request
 * @param {StillRequest} wanted
 * @returns {Promise<CanvasStill>}
 */
export const canvasStill = (request, { isFirst, frames, ms, idleFrames, idleMs, longest }) =>
  new Promise((resolve) => {
    const canvas = begun(request);
    const gone = { cells: null, closed: false, width: 0, height: 0, frames: 0, ms: 0, changing: 0 };
    if (!canvas) {
      resolve(gone);
      return;
    }
    const began = performance.now();
    if (isFirst) {
      rest.since = began;
      rest.frames = 0;
      rest.heardFrom = rest.answeredAt;
    }
    let seen = 0;
    let firstChange = 0;
    let lastChange = 0;
    const look = () => {
      if (!canvas.isConnected) {
        resolve(gone);
        return;
      }
      const closed = !readFrame(canvas, request);
      follow();
      const now = performance.now();
      seen += 1;
      if (last.key && noteFrame(request)) {
        firstChange ||= seen;
        lastChange = seen;
      }
      const still = now - rest.since;
      const hasChanged = rest.old.length !== rest.cells.length || differ(rest.old, rest.cells, request);
      const isStill = hasChanged
        ? rest.frames >= frames && still >= ms
        : rest.frames >= idleFrames && isIdle(now, idleMs);
      if (!closed && !isStill && now - began < longest) {
        afterDrawing(canvas, look);
        return;
      }
      if (isStill) rest.old = rest.cells;
      rest.answeredAt = now;
      const changing = firstChange ? lastChange - firstChange + 1 : 0;
      resolve({ ...answerOf(canvas, request, closed), frames: rest.frames, ms: still, changing });
    };
    afterDrawing(canvas, look);
  });

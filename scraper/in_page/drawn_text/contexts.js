// Watches what is drawn on canvases, and notes the texts that can be seen.

import { addNote, notesOn, removeAllNotes, removeNotes } from "./notes.js";
import { noteNumber } from "./number_fonts.js";
import { getter, wrap } from "./wrapping.js";

/** @import { Note } from "../types.js" */

const { apply } = Reflect;
const { abs, hypot } = Math;

/** Longer texts are neither tiles nor important messages. */
const LONGEST = 60;
const LEAST_ALPHA = 0.05;
const COVERING_ALPHA = 0.9;
const HTMLCanvas = globalThis.HTMLCanvasElement;
const Offscreen = globalThis.OffscreenCanvas;
const MATRIX = ["a", "b", "c", "d", "e", "f"];

/**
 * Watch one kind of contexts.
 *
 * @param {any} contexts the prototype of the contexts
 * @param {any} canvases the prototype of their canvases
 * @param {(source: any, x: number, y: number) => number} alphaAt returns how opaque a canvas is at a point
 */
export const watchContexts = (contexts, canvases, alphaAt) => {
  const canvasOf = getter(contexts, "canvas");
  const alphaOf = getter(contexts, "globalAlpha");
  const compositeOf = getter(contexts, "globalCompositeOperation");
  const styleOf = getter(contexts, "fillStyle");
  const strokeOf = getter(contexts, "strokeStyle");
  const fontOf = getter(contexts, "font");
  const widthOf = getter(contexts, "lineWidth");
  const { getTransform, measureText, isPointInPath } = contexts;
  const matrix = MATRIX.map((name) => getter(DOMMatrixReadOnly.prototype, name));
  const metrics = TextMetrics.prototype;
  const left = getter(metrics, "actualBoundingBoxLeft");
  const right = getter(metrics, "actualBoundingBoxRight");
  const ascent = getter(metrics, "actualBoundingBoxAscent");
  const descent = getter(metrics, "actualBoundingBoxDescent");

  /** @param {any} context */
  const transformOf = (context) => {
    const now = apply(getTransform, context, []);
    return {
      a: matrix[0](now),
      b: matrix[1](now),
      c: matrix[2](now),
      d: matrix[3](now),
      e: matrix[4](now),
      f: matrix[5](now),
    };
  };

  /** @param {any} context */
  const covers = (context) => {
    if (alphaOf(context) < COVERING_ALPHA) return false;
    const composite = compositeOf(context);
    return composite === "source-over" || composite === "copy";
  };

  /** @param {any} style */
  const alphaIn = (style) => {
    // The browser writes transparent colours as "rgba(1, 2, 3, 0.5)".
    if (typeof style !== "string" || style[4] !== "(" || style[3] !== "a") return 1;
    let from = style.length;
    while (from > 0 && style[from - 1] !== " ") from -= 1;
    let text = "";
    for (let i = from; i < style.length - 1; i += 1) text += style[i];
    return +text;
  };

  /**
   * Remove the notes within a rectangle, given in the context's coordinates.
   *
   * @param {any} context
   * @param {number[]} rectangle left, top, width, height
   * @param {(across: number, down: number) => boolean} [hides] whether the rectangle hides a point within it
   */
  const forgetWithin = (context, rectangle, hides) => {
    if (!notesOn(canvasOf(context))?.length) return;
    const { a, b, c, d, e, f } = transformOf(context);
    const scale = a * d - b * c;
    if (!scale) return;
    const x = rectangle[0];
    const y = rectangle[1];
    const width = rectangle[2];
    const height = rectangle[3];
    removeNotes(canvasOf(context), (note) => {
      const across = (d * (note.x - e) - c * (note.y - f)) / scale - x;
      const down = (a * (note.y - f) - b * (note.x - e)) / scale - y;
      const isWithin =
        (width < 0 ? across <= 0 && across >= width : across >= 0 && across <= width) &&
        (height < 0 ? down <= 0 && down >= height : down >= 0 && down <= height);
      return isWithin && (!hides || hides(across, down));
    });
  };

  /**
   * @param {(context: any) => any} styleOfText
   * @param {(context: any) => number} outlineOf
   */
  const noteText = (styleOfText, outlineOf) => (/** @type {any} */ context, /** @type {any[]} */ values) => {
    const given = values[0];
    if (typeof given !== "string" && typeof given !== "number") return;
    const text = `${given}`;
    const x = +values[1];
    const y = +values[2];
    if (!text || text.length > LONGEST || !(abs(x) < 1e6 && abs(y) < 1e6)) return;
    if (alphaOf(context) * alphaIn(styleOfText(context)) < LEAST_ALPHA) return;
    noteNumber(text, fontOf(context), outlineOf(context));
    const size = apply(measureText, context, [text]);
    const { a, b, c, d, e, f } = transformOf(context);
    const middleX = x + (right(size) - left(size)) / 2;
    const middleY = y + (descent(size) - ascent(size)) / 2;
    addNote(canvasOf(context), {
      text,
      x: a * middleX + c * middleY + e,
      y: b * middleX + d * middleY + f,
      atX: a * x + c * y + e,
      atY: b * x + d * y + f,
      height: (ascent(size) + descent(size)) * hypot(c, d),
    });
  };

  /**
   * Copy the notes of a canvas that is drawn onto another one.
   *
   * @param {any} context
   * @param {any[]} values of `drawImage`
   */
  const noteImage = (context, values) => {
    const source = values[0];
    const wide = +(source.naturalWidth ?? source.videoWidth ?? source.displayWidth ?? source.width);
    const high = +(source.naturalHeight ?? source.videoHeight ?? source.displayHeight ?? source.height);
    const isCut = values.length >= 9;
    const fromX = isCut ? +values[1] : 0;
    const fromY = isCut ? +values[2] : 0;
    const fromWidth = isCut ? +values[3] : wide;
    const fromHeight = isCut ? +values[4] : high;
    const toX = +values[isCut ? 5 : 1];
    const toY = +values[isCut ? 6 : 2];
    const toWidth = isCut ? +values[7] : values.length >= 5 ? +values[3] : fromWidth;
    const toHeight = isCut ? +values[8] : values.length >= 5 ? +values[4] : fromHeight;
    const own = notesOn(source);
    /** @type {Note[]} */
    const copied = [];
    if (own && fromWidth && fromHeight && alphaOf(context) >= LEAST_ALPHA) {
      const { a, b, c, d, e, f } = transformOf(context);
      for (let i = 0; i < own.length; i += 1) {
        const note = own[i];
        const across = (note.x - fromX) / fromWidth;
        const down = (note.y - fromY) / fromHeight;
        if (across < 0 || across > 1 || down < 0 || down > 1) continue;
        const x = toX + across * toWidth;
        const y = toY + down * toHeight;
        const atX = toX + ((note.atX - fromX) / fromWidth) * toWidth;
        const atY = toY + ((note.atY - fromY) / fromHeight) * toHeight;
        copied[copied.length] = {
          text: note.text,
          x: a * x + c * y + e,
          y: b * x + d * y + f,
          atX: a * atX + c * atY + e,
          atY: b * atX + d * atY + f,
          height: note.height * abs(toHeight / fromHeight) * hypot(c, d),
        };
      }
    }
    if (covers(context)) {
      const isCanvas = source instanceof HTMLCanvas || source instanceof Offscreen;
      forgetWithin(context, [toX, toY, toWidth, toHeight], (across, down) => {
        const x = fromX + (across / toWidth) * fromWidth;
        const y = fromY + (down / toHeight) * fromHeight;
        // Hidden canvases are often larger than their drawing.
        return !isCanvas || alphaAt(source, x, y) >= 255 * COVERING_ALPHA;
      });
    }
    for (let i = 0; i < copied.length; i += 1) addNote(canvasOf(context), copied[i]);
  };

  wrap(
    contexts,
    "fillText",
    noteText(styleOf, () => 0),
  );
  wrap(contexts, "strokeText", noteText(strokeOf, widthOf));
  wrap(contexts, "drawImage", noteImage);
  wrap(contexts, "clearRect", (context, values) => forgetWithin(context, values));
  wrap(contexts, "fillRect", (context, values) => {
    if (covers(context) && alphaIn(styleOf(context)) >= COVERING_ALPHA) forgetWithin(context, values);
  });
  wrap(contexts, "putImageData", (context, values) => {
    const x = +values[1];
    const y = +values[2];
    removeNotes(
      canvasOf(context),
      (note) => note.x >= x && note.y >= y && note.x <= x + values[0].width && note.y <= y + values[0].height,
    );
  });
  wrap(contexts, "fill", (context, values) => {
    if (!notesOn(canvasOf(context))?.length) return;
    if (!covers(context) || alphaIn(styleOf(context)) < COVERING_ALPHA) return;
    const path = typeof values[0] === "object" ? values[0] : null;
    removeNotes(canvasOf(context), (note) =>
      apply(isPointInPath, context, path ? [path, note.x, note.y] : [note.x, note.y]),
    );
  });
  wrap(contexts, "reset", (context) => removeAllNotes(canvasOf(context)));
  wrap(canvases, "width", removeAllNotes);
  wrap(canvases, "height", removeAllNotes);
};

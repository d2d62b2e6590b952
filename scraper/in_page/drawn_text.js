// Runs in the page's own world before its scripts, and stores the texts that are drawn on canvases, with their places.
//
// A canvas cannot list its texts, so this module wraps the methods that draw and erase. A wrapper calls the original
// method and then updates a list of the visible texts of the canvas. Our world asks for the list with an event whose
// name only the two know. The page sees no difference: names, lengths, `toString` and the order of properties are
// those of the browser. A page can change everything that it can reach, so this module only calls functions that it
// stored before the page's scripts ran.

/** Longer texts are neither tiles nor important messages. */
const LONGEST = 60;
const MOST_NOTES = 600;
const LEAST_ALPHA = 0.05;
const COVERING_ALPHA = 0.9;
/** Between the fields of a note, and between notes. */
const FIELD = "\u001f";
const NOTE = "\u001e";

/**
 * A text on a canvas, in the canvas's own pixels.
 *
 * @typedef {object} Note
 * @property {string} text
 * @property {number} x the middle of the text
 * @property {number} y
 * @property {number} atX the point that the page gave, which is the middle or a corner
 * @property {number} atY
 * @property {number} height the height of the letters
 */

/** A class whose constructor returns its argument, so that a subclass can add private fields to that object. */
class Given {
  /** @param {object} object */
  constructor(object) {
    // biome-ignore lint/correctness/noConstructorReturn: that is what it is for
    return object;
  }
}

/** A value in a private field of an object, where the page can neither see nor break it. */
class Kept extends Given {
  /** @type {any} */
  #value = undefined;

  /**
   * @param {any} object
   * @returns {any}
   */
  static of(object) {
    return #value in object ? object.#value : undefined;
  }

  /**
   * @param {any} object
   * @param {any} value
   */
  static set(object, value) {
    if (!(#value in object)) new Kept(object);
    /** @type {any} */ (object).#value = value;
  }
}

/** The same for wrappers: the private field holds the wrapped function. */
class Masked extends Given {
  /** @type {any} */
  #native = undefined;

  /**
   * @param {any} wrapper
   * @param {any} native
   */
  static set(wrapper, native) {
    new Masked(wrapper);
    /** @type {any} */ (wrapper).#native = native;
  }

  /**
   * @param {any} thing
   * @returns {any} the wrapped function, or the thing itself
   */
  static unmasked(thing) {
    return typeof thing === "function" && #native in thing ? thing.#native : thing;
  }
}

const { apply } = Reflect;
const { defineProperty, getOwnPropertyDescriptor: descriptorOf } = Object;
const { abs, floor, hypot, max, round } = Math;

/**
 * Return a getter of the browser as a function that no page can change.
 *
 * @param {object} prototype
 * @param {string} name
 * @returns {(owner: object) => any}
 */
const getter = (prototype, name) => {
  const get = descriptorOf(prototype, name)?.get;
  return (owner) => (get ? apply(get, owner, []) : undefined);
};

/**
 * Replace a method by a wrapper, which calls `after` with owner, arguments and result after the method.
 *
 * @param {any} prototype
 * @param {string} name
 * @param {(owner: any, values: any[], result: any) => void} after
 */
const wrap = (prototype, name, after) => {
  const descriptor = descriptorOf(prototype, name);
  if (!descriptor) return;
  const part = descriptor.set ? "set" : "value";
  const native = descriptor[part];
  const wrapper = new Proxy(native, {
    // @ts-expect-error: without a prototype, so that no page can add traps
    __proto__: null,
    apply(target, owner, values) {
      const result = apply(target, owner, values);
      try {
        after(owner, values, result);
      } catch {
        // An error of our code must not reach the page.
      }
      return result;
    },
  });
  Masked.set(wrapper, native);
  descriptor[part] = wrapper;
  defineProperty(prototype, name, descriptor);
};

/** Make `toString` return the same text for our wrappers as for the browser's functions. */
const maskText = () => {
  const native = Function.prototype.toString;
  const wrapper = new Proxy(native, {
    // @ts-expect-error: as above
    __proto__: null,
    apply: (target, owner, values) => apply(target, Masked.unmasked(owner), values),
  });
  Masked.set(wrapper, native);
  const descriptor = /** @type {PropertyDescriptor} */ (descriptorOf(Function.prototype, "toString"));
  descriptor.value = wrapper;
  defineProperty(Function.prototype, "toString", descriptor);
};

const HTMLCanvas = globalThis.HTMLCanvasElement;
const Offscreen = globalThis.OffscreenCanvas;

/** Make a function that returns how opaque a canvas is at a point, from 0 to 255; call it before wrapping. */
const alphaReader = () => {
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
/** @type {ReturnType<typeof alphaReader>} */
let alphaAt = () => 255;

const MATRIX = ["a", "b", "c", "d", "e", "f"];

/**
 * Watch one kind of contexts.
 *
 * @param {any} contexts the prototype of the contexts
 * @param {any} canvases the prototype of their canvases
 */
const watchContexts = (contexts, canvases) => {
  const canvasOf = getter(contexts, "canvas");
  const alphaOf = getter(contexts, "globalAlpha");
  const compositeOf = getter(contexts, "globalCompositeOperation");
  const styleOf = getter(contexts, "fillStyle");
  const strokeOf = getter(contexts, "strokeStyle");
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
   * Remove the notes that meet a condition.
   *
   * @param {any} context
   * @param {(note: Note) => boolean} holds
   */
  const forget = (context, holds) => {
    const notes = Kept.of(canvasOf(context));
    if (!notes) return;
    let kept = 0;
    for (let i = 0; i < notes.length; i += 1) {
      if (!holds(notes[i])) {
        notes[kept] = notes[i];
        kept += 1;
      }
    }
    notes.length = kept;
  };

  /**
   * Remove the notes within a rectangle, given in the context's coordinates.
   *
   * @param {any} context
   * @param {number[]} rectangle left, top, width, height
   * @param {(across: number, down: number) => boolean} [hides] whether the rectangle hides a point within it
   */
  const forgetWithin = (context, rectangle, hides) => {
    if (!Kept.of(canvasOf(context))?.length) return;
    const { a, b, c, d, e, f } = transformOf(context);
    const scale = a * d - b * c;
    if (!scale) return;
    const x = rectangle[0];
    const y = rectangle[1];
    const width = rectangle[2];
    const height = rectangle[3];
    forget(context, (note) => {
      const across = (d * (note.x - e) - c * (note.y - f)) / scale - x;
      const down = (a * (note.y - f) - b * (note.x - e)) / scale - y;
      const isWithin =
        (width < 0 ? across <= 0 && across >= width : across >= 0 && across <= width) &&
        (height < 0 ? down <= 0 && down >= height : down >= 0 && down <= height);
      return isWithin && (!hides || hides(across, down));
    });
  };

  /**
   * Add a note; the same text at nearly the same place is a shadow or an outline, and is replaced.
   *
   * @param {any} canvas
   * @param {Note} note
   */
  const add = (canvas, note) => {
    let notes = Kept.of(canvas);
    if (!notes) {
      notes = [];
      Kept.set(canvas, notes);
    }
    const near = max(4, note.height / 4);
    for (let i = 0; i < notes.length; i += 1) {
      const other = notes[i];
      if (other.text === note.text && abs(other.x - note.x) < near && abs(other.y - note.y) < near) {
        notes[i] = note;
        return;
      }
    }
    if (notes.length < MOST_NOTES) notes[notes.length] = note;
  };

  /** @param {(context: any) => any} styleOfText */
  const noteText = (styleOfText) => (/** @type {any} */ context, /** @type {any[]} */ values) => {
    const given = values[0];
    if (typeof given !== "string" && typeof given !== "number") return;
    const text = `${given}`;
    const x = +values[1];
    const y = +values[2];
    if (!text || text.length > LONGEST || !(abs(x) < 1e6 && abs(y) < 1e6)) return;
    if (alphaOf(context) * alphaIn(styleOfText(context)) < LEAST_ALPHA) return;
    const size = apply(measureText, context, [text]);
    const { a, b, c, d, e, f } = transformOf(context);
    const middleX = x + (right(size) - left(size)) / 2;
    const middleY = y + (descent(size) - ascent(size)) / 2;
    add(canvasOf(context), {
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
    const own = Kept.of(source);
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
    for (let i = 0; i < copied.length; i += 1) add(canvasOf(context), copied[i]);
  };

  wrap(contexts, "fillText", noteText(styleOf));
  wrap(contexts, "strokeText", noteText(strokeOf));
  wrap(contexts, "drawImage", noteImage);
  wrap(contexts, "clearRect", (context, values) => forgetWithin(context, values));
  wrap(contexts, "fillRect", (context, values) => {
    if (covers(context) && alphaIn(styleOf(context)) >= COVERING_ALPHA) forgetWithin(context, values);
  });
  wrap(contexts, "putImageData", (context, values) => {
    const x = +values[1];
    const y = +values[2];
    forget(
      context,
      (note) => note.x >= x && note.y >= y && note.x <= x + values[0].width && note.y <= y + values[0].height,
    );
  });
  wrap(contexts, "fill", (context, values) => {
    if (!Kept.of(canvasOf(context))?.length) return;
    if (!covers(context) || alphaIn(styleOf(context)) < COVERING_ALPHA) return;
    const path = typeof values[0] === "object" ? values[0] : null;
    forget(context, (note) =>
      apply(isPointInPath, context, path ? [path, note.x, note.y] : [note.x, note.y]),
    );
  });
  const wipe = (/** @type {any} */ canvas) => {
    const notes = Kept.of(canvas);
    if (notes) notes.length = 0;
  };
  wrap(contexts, "reset", (context) => wipe(canvasOf(context)));
  wrap(canvases, "width", wipe);
  wrap(canvases, "height", wipe);
};

/** @param {Note[]} notes */
const asText = (notes) => {
  let text = "";
  for (let i = 0; i < notes.length; i += 1) {
    const { text: shown, x, y, atX, atY, height } = notes[i];
    let clean = "";
    for (let at = 0; at < shown.length; at += 1) {
      clean += shown[at] === FIELD || shown[at] === NOTE ? " " : shown[at];
    }
    text += `${i ? NOTE : ""}${clean}`;
    const numbers = [x, y, atX, atY, height];
    for (let at = 0; at < numbers.length; at += 1) text += FIELD + round(numbers[at] * 16) / 16;
  }
  return text;
};

/**
 * Watch all canvases of the document. An event with this name, sent to a canvas, is answered by an event with "!" after
 * the name.
 *
 * @param {string} name
 */
export const noteDrawnText = (name) => {
  if (typeof CanvasRenderingContext2D === "undefined") return;
  alphaAt = alphaReader();
  maskText();
  watchContexts(CanvasRenderingContext2D.prototype, HTMLCanvasElement.prototype);
  watchContexts(OffscreenCanvasRenderingContext2D.prototype, OffscreenCanvas.prototype);
  const { composedPath } = Event.prototype;
  const { dispatchEvent } = EventTarget.prototype;
  const Answer = CustomEvent;
  window.addEventListener(
    name,
    (event) => {
      const canvas = apply(composedPath, event, [])[0];
      const notes = Kept.of(canvas);
      const detail = notes ? asText(notes) : "";
      apply(dispatchEvent, canvas, [new Answer(`${name}!`, { detail })]);
    },
    true,
  );
};

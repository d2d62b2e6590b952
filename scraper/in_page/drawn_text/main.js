// Runs in the page's own world before its scripts, and stores the texts that are drawn on canvases, with their places.
//
// A canvas cannot list its texts, so this module wraps the methods that draw and erase. A wrapper calls the original
// method and then updates a list of the visible texts of the canvas. Our world asks for the list with an event whose
// name only the two know. The page sees no difference: names, lengths, `toString` and the order of properties are
// those of the browser. A page can change everything that it can reach, so this module only calls functions that it
// stored before the page's scripts ran.

import { alphaReader } from "./alpha.js";
import { watchContexts } from "./contexts.js";
import { notesAsText, notesOn } from "./notes.js";
import { numberFonts } from "./number_fonts.js";
import { maskText } from "./wrapping.js";

const { apply } = Reflect;

/**
 * Watch all canvases of the document. An event with this name, sent to a canvas, is answered by an event with "!" after
 * the name: the texts on this canvas. An event with "#" after the name asks for the fonts of all numbers.
 *
 * @param {string} name
 */
export const noteDrawnText = (name) => {
  if (typeof CanvasRenderingContext2D === "undefined") return;
  const alphaAt = alphaReader();
  maskText();
  watchContexts(CanvasRenderingContext2D.prototype, HTMLCanvasElement.prototype, alphaAt);
  watchContexts(OffscreenCanvasRenderingContext2D.prototype, OffscreenCanvas.prototype, alphaAt);
  const { composedPath } = Event.prototype;
  const { dispatchEvent } = EventTarget.prototype;
  const Answer = CustomEvent;
  /**
   * @param {string} question
   * @param {(canvas: any) => string} answer
   */
  const hear = (question, answer) =>
    window.addEventListener(
      question,
      (event) => {
        const canvas = apply(composedPath, event, [])[0];
        apply(dispatchEvent, canvas, [new Answer(`${name}!`, { detail: answer(canvas) })]);
      },
      true,
    );
  hear(name, (canvas) => {
    const notes = notesOn(canvas);
    return notes ? notesAsText(notes) : "";
  });
  hear(`${name}#`, numberFonts);
};

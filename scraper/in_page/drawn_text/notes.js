// Keeps the list of the texts on each canvas.

import { Kept } from "./private_fields.js";

const { abs, max, round } = Math;

/** @import { Note } from "../types.js" */

const MOST_NOTES = 600;
/** Between the fields of a note, and between notes. */
const FIELD = "\u001f";
const NOTE = "\u001e";

/**
 * @param {any} canvas
 * @returns {Note[] | undefined}
 */
export const notesOn = (canvas) => Kept.of(canvas);

/**
 * Add a note; the same text at nearly the same place is a shadow or an outline, and is replaced.
 *
 * @param {any} canvas
 * @param {Note} note
 */
export const addNote = (canvas, note) => {
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

/**
 * Remove the notes that meet a condition.
 *
 * @param {any} canvas
 * @param {(note: Note) => boolean} holds
 */
export const removeNotes = (canvas, holds) => {
  const notes = Kept.of(canvas);
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

/** @param {any} canvas */
export const removeAllNotes = (canvas) => {
  const notes = Kept.of(canvas);
  if (notes) notes.length = 0;
};

/** @param {Note[]} notes */
export const notesAsText = (notes) => {
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

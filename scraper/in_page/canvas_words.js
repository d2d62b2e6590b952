// Finds score and messages among the texts that were drawn on canvases.

/** @import { CanvasWords, DrawnText } from "./types.js" */

const OVER = /game over|no (more |legal )?moves|you lo(se|st)\b|\bgame ended/i;
const WON = /\byou (win|won)\b|\byou made it/i;
const SCORE = /^(?:your )?(?:score|points)\W*(\d[\d., ]*)?/i;
const BEST = /^(?:best|high|top)(?: ?score)?\W*(\d[\d., ]*)?/i;
/** How far a number may stand from its name, in heights of the larger of the two. */
const BESIDE = 6;
const MOST_DIGITS = 16;

/** @param {string} text */
const digits = (text) => text.replace(/\D/g, "").slice(0, MOST_DIGITS);

/**
 * Return the number in a text with a name, or below or beside such a text.
 *
 * @param {DrawnText[]} texts
 * @param {RegExp} name
 */
const numberNamed = (texts, name) => {
  for (const text of texts) {
    const found = name.exec(text.text);
    if (!found) continue;
    if (found[1]) return digits(found[1]);
    let nearest = null;
    let least = Infinity;
    for (const other of texts) {
      if (!/^\d[\d., ]*$/.test(other.text)) continue;
      const across = Math.min(Math.abs(other.x - text.x), Math.abs(other.atX - text.atX));
      const down = other.y - text.y;
      const far = across + Math.abs(down);
      const reach = BESIDE * Math.max(other.height, text.height, 8);
      const isBeside = Math.abs(down) < text.height && other.x > text.x;
      const isBelow = down > 0 && across < reach / 2;
      if (far < least && far < reach && (isBeside || isBelow)) [nearest, least] = [other, far];
    }
    if (nearest) return digits(nearest.text);
  }
  return null;
};

/**
 * Return what the texts say about the game.
 *
 * @param {DrawnText[]} texts
 * @returns {CanvasWords}
 */
export const wordsIn = (texts) => ({
  score: numberNamed(texts, SCORE),
  best: numberNamed(texts, BEST),
  won: texts.some(({ text }) => WON.test(text)),
  over: texts.some(({ text }) => OVER.test(text)),
});

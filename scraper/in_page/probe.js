// Finds the board of the document with the reader that is asked for, and waits for it to come to rest.
//
// Nothing here knows the rules of the game: what a slide may lead to comes from outside, as `afters`.

/** @import { CanvasLattice, Find, RawReading, Reader, Report, SettledRequest, SiteBoard } from "./types.js" */
/** @import { SlideRequest, SpawnRule } from "./types.js" */

import { canvasTextReader } from "./readers/canvas_text.js";
import { latticeReader } from "./readers/lattice.js";
import { findPositionClasses } from "./readers/position_classes.js";
import { siteReader } from "./readers/site.js";
import { watch } from "./watch.js";

/** The ways of finding boards, by the names that Python calls them by. */
const FINDERS = new Map(
  /** @type {[string, Find][]} */ ([
    ["position-classes", findPositionClasses],
    ["lattice-text", latticeReader("text")],
    ["lattice-classes", latticeReader("classes")],
    ["lattice-looks", latticeReader("looks")],
  ]),
);
const SITE = "site-profile";
const CANVAS_TEXT = "canvas-text";

const KEYS = new Set([
  ...["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"],
  ...["w", "d", "s", "a", "k", "l", "j", "h"],
]);
const INPUTS = ["keydown", "pointerdown", "touchstart"];
/** @type {SpawnRule} */
const STANDARD = { values: [2, 4], least: 1, most: 1 };

/** @type {string | null} */
let name = null;
/** @type {Reader | null} */
let reader = null;
let keysSeen = 0;
let keyAt = 0;
/** @type {number[] | null} the cells as they were when the last arrow key arrived, before the page saw it */
let atKey = null;

/**
 * @param {number[] | null} a
 * @param {number[]} b
 */
const areSame = (a, b) =>
  a !== null && a.length === b.length && a.every((value, index) => value === b[index]);

/** @param {Event} event */
const noteInput = (event) => {
  if (!event.isTrusted || !reader) return;
  if (event instanceof KeyboardEvent && event.key && (!KEYS.has(event.key) || event.repeat)) return;
  keysSeen += 1;
  keyAt = performance.now();
  atKey = reader.read().cells;
};

// -- finding ---------------------------------------------------------------------------------------------

/**
 * Find the board anew if it is not there any more.
 *
 * @returns {{ found: boolean, reasons: Record<string, string> }} whether there is one, and why what was seen is
 *   not a board of 2048
 */
const attach = () => {
  if (reader?.isAlive?.()) return { found: true, reasons: {} };
  reader = null;
  const found = name === null ? null : (FINDERS.get(name)?.() ?? null);
  if (found === null || "why" in found) {
    return { found: false, reasons: name !== null && found ? { [name]: found.why } : {} };
  }
  reader = found;
  hearInput();
  return { found: true, reasons: {} };
};

/** The same function is put up once, however often this is called. */
const hearInput = () => {
  for (const type of INPUTS) window.addEventListener(type, noteInput, { capture: true, passive: true });
};

/**
 * Look for a board with one reader alone.
 *
 * @param {string} wanted its name
 * @param {SiteBoard | null} site what a profile says of the board, for the reader that follows it
 */
export const attachTo = (wanted, site) => {
  if (site && !FINDERS.has(SITE)) FINDERS.set(SITE, siteReader(site));
  if (name !== wanted) reader = null;
  name = wanted;
  return attach();
};

/**
 * Read a board on a canvas, whose cells are known; whether the texts drawn on it explain it.
 *
 * @param {CanvasLattice} lattice
 */
export const attachToCanvas = (lattice) => {
  const found = canvasTextReader(lattice);
  if (!found) return false;
  name = CANVAS_TEXT;
  reader = found;
  hearInput();
  return true;
};

/** Leave this board for another that the same reader sees; whether there is one. */
export const skip = () => {
  const left = reader;
  if (!left?.skip) return false;
  left.skip();
  reader = null;
  if (attach().found) return true;
  left.unskip?.();
  reader = left;
  return false;
};

/** Where the board is in its frame. */
export const region = () => reader?.region?.() ?? null;

/** What the reader sees now, without waiting for anything; null without a board. */
export const look = () => reader?.read() ?? null;

// -- waiting ---------------------------------------------------------------------------------------------

const roots = () => reader?.roots?.() ?? [];
const byFrames = () => reader?.byFrames ?? false;

/** Notices when what matters in a reading differs from the last one. */
class Change {
  /** @param {boolean} withScore whether the score matters */
  constructor(withScore) {
    this.withScore = withScore;
    this.at = performance.now();
    this.last = "";
  }

  /**
   * @param {RawReading} reading
   * @param {{ changed(): void }} clock
   */
  note(reading, clock) {
    const score = this.withScore ? reading.score : "";
    const key = `${reading.cells}|${reading.won}|${reading.over}|${score}|${reading.onTheWay ?? ""}`;
    if (key === this.last) return;
    this.last = key;
    this.at = performance.now();
    clock.changed();
  }
}

/**
 * How many tiles have spawned if the cells are that slide plus as many as the rules want, else -1. A look that
 * is not known yet (below 0) may be any one value.
 *
 * @param {number[]} cells
 * @param {number[]} after
 * @param {SpawnRule} rule
 */
const spawnsOn = (cells, after, { values, least, most }) => {
  if (cells.length !== after.length) return -1;
  let spawns = 0;
  /** @type {Map<number, number>} */
  const taken = new Map();
  for (let i = 0; i < after.length; i += 1) {
    if (cells[i] === after[i]) continue;
    if (after[i] === 0) {
      if (cells[i] >= 0 && !values.includes(cells[i])) return -1;
      spawns += 1;
    } else if (cells[i] >= 0 || (taken.get(cells[i]) ?? after[i]) !== after[i]) return -1;
    else taken.set(cells[i], after[i]);
  }
  return spawns >= least && spawns <= most ? spawns : -1;
};

/** @param {RawReading} reading */
const isFresh = (reading) => {
  const tiles = reading.cells.filter((value) => value !== 0);
  const isSmall = tiles.length > 0 && tiles.length <= 4 && Math.max(...tiles) <= 4;
  return isSmall && !reading.over && !reading.won;
};

/**
 * @param {Report["outcome"]} outcome
 * @param {RawReading | null} reading
 * @param {number[] | null} early
 * @returns {Report}
 */
const report = (outcome, reading, early = null) => {
  // Beside a board that obeys the rules a stray number is something that floats over it.
  if (reading && (outcome === "slid" || outcome === "unchanged")) reading.odd = [];
  return { outcome, reading, early, atKey, keysSeen, name };
};

/**
 * Resolve once the board has been at rest for `quiet` ms, or after `cap` ms anyhow; with `fresh` not before the
 * page has changed and shows a board of a few small tiles; with `unblocked` not before the message of the win
 * has gone.
 *
 * @param {SettledRequest} request
 * @returns {Promise<Report>} "settled", "moving" (not so within `cap`) or "gone" (no board)
 */
export const awaitSettled = ({ quiet, cap, fresh, unblocked, labels, ranks }) => {
  reader?.learn?.(labels, ranks);
  const began = performance.now();
  const change = new Change(true);
  let changed = false;
  return watch(
    (clock, mutations) => {
      changed ||= mutations > 0;
      const isLate = performance.now() - began >= cap;
      const reading = attach().found && reader ? reader.read() : null;
      if (reading) change.note(reading, clock);
      const isWanted =
        reading !== null && !(fresh && !(changed && isFresh(reading))) && !(unblocked && reading.won);
      if (isWanted && clock.rested(change.at, quiet, reading.moving)) return report("settled", reading);
      if (isLate) return report(reading ? "moving" : "gone", reading);
      if (!isWanted) clock.wake(began + cap - performance.now());
      return undefined;
    },
    { roots, byFrames },
  );
};

/**
 * Resolve once a key has led from `before` to one of `afters` plus the spawned tile: at once if `trusting` and
 * the reading is sure, else after `quiet` ms of rest.
 *
 * @param {SlideRequest} request
 * @returns {Promise<Report>} "slid"; "unchanged" after `idle` ms without any change; "other" when the board came
 *   to rest (`quietOther` ms, at most `cap`) elsewhere; "gone"
 */
export const awaitSlide = (request) => {
  reader?.learn?.(request.labels, request.ranks);
  const wait = new SlideWait(request);
  return watch((clock) => wait.check(clock), { roots, byFrames });
};

/**
 * @typedef {object} Clock
 * @property {(ms: number) => void} wake
 * @property {() => void} changed
 * @property {(since: number, quiet: number, moving?: boolean) => boolean} rested
 */

class SlideWait {
  /** @param {SlideRequest} request */
  constructor(request) {
    this.request = request;
    this.began = performance.now();
    this.change = new Change(request.score !== null);
    /** @type {number[] | null} */
    this.early = null;
  }

  get isLate() {
    return performance.now() - this.began >= this.request.cap;
  }

  /** Whether the key has arrived in this document. */
  get isPressed() {
    return keysSeen > this.request.keys;
  }

  /**
   * @param {Clock} clock
   * @returns {Report | undefined}
   */
  check(clock) {
    if (!reader && !attach().found) {
      if (this.isLate) return report("gone", null);
      clock.wake(this.began + this.request.cap - performance.now());
      return undefined;
    }
    const reading = /** @type {Reader} */ (/** @type {unknown} */ (reader)).read();
    this.change.note(reading, clock);
    const spawns = this.spawns(reading);
    if (spawns >= 0) return this.slid(reading, spawns, clock);
    if (areSame(this.request.before, reading.cells)) return this.unchanged(reading, clock);
    return this.other(reading, clock);
  }

  /** @param {RawReading} reading */
  spawns(reading) {
    const { before, afters, spawn } = this.request;
    // A board that had already moved on when the key arrived was not moved by this key.
    if (this.isPressed && !areSame(atKey, before)) return -1;
    return Math.max(...afters.map((after) => spawnsOn(reading.cells, after, spawn ?? STANDARD)));
  }

  /**
   * @param {RawReading} reading
   * @param {number} spawns
   * @param {Clock} clock
   */
  slid(reading, spawns, clock) {
    const { score, trusting, quiet, quietOther } = this.request;
    const isScored = score === null || reading.score === score;
    if (reading.sure && spawns && isScored && this.isPressed) {
      this.early ??= reading.cells;
      if (trusting) return report("slid", reading, this.early);
    }
    const patience = spawns ? quiet : 2 * quietOther; // where tiles need not spawn, one may still come
    const isAtRest = clock.rested(this.change.at, patience, reading.moving);
    return isAtRest ? report("slid", reading, this.early) : undefined;
  }

  /**
   * @param {RawReading} reading
   * @param {Clock} clock
   */
  unchanged(reading, clock) {
    const { idle } = this.request;
    // A key that has not arrived yet may be on its way, or be kept from us by the page.
    const patience = this.isPressed ? idle : 3 * idle;
    const since = Math.max(this.change.at, this.began, this.isPressed ? keyAt : 0);
    return clock.rested(since, patience) ? report("unchanged", reading) : undefined;
  }

  /**
   * @param {RawReading} reading
   * @param {Clock} clock
   */
  other(reading, clock) {
    const { afters, quietOther, cap } = this.request;
    const spawnIsDue = afters.some((after) => areSame(after, reading.cells));
    const patience = reading.merging ? cap : spawnIsDue ? 2 * quietOther : quietOther;
    if (this.isLate || clock.rested(this.change.at, patience, reading.moving))
      return report("other", reading);
    return undefined;
  }
}

/**
 * Resolve at the next change of the page, or after `ms`; whether there was one.
 *
 * @param {number} ms
 * @returns {Promise<boolean>}
 */
export const awaitChange = (ms) => {
  const until = performance.now() + ms;
  return watch((clock, mutations) => {
    if (mutations > 0 || performance.now() >= until) return mutations > 0;
    clock.wake(until - performance.now());
    return undefined;
  });
};

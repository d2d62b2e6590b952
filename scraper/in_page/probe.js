// Finds the board of the document with a given reader, and waits until it is at rest.
//
// This module does not know the rules of the game: Python sends the possible results of a slide as `afters`.

/** @import { CanvasLattice, Find, RawReading, Reader, Report, SettledRequest, SiteBoard } from "./types.js" */
/** @import { SlideRequest, SpawnRule } from "./types.js" */

import { canvasTextReader } from "./readers/canvas_text.js";
import { latticeReader } from "./readers/lattice.js";
import { findPositionClasses } from "./readers/position_classes.js";
import { siteReader } from "./readers/site.js";
import { watch } from "./watch.js";

/** The functions that find boards, by the names of their readers in Python. */
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
/** How often to look at a canvas before a key is seen; the page may hide the key. */
const UNSEEN_MS = 50;
const INPUTS = ["keydown", "pointerdown", "touchstart"];
/** @type {SpawnRule} */
const STANDARD = { values: [2, 4], least: 1, most: 1 };

/** @type {string | null} */
let name = null;
/** @type {Reader | null} */
let reader = null;
let keysSeen = 0;
let keyAt = 0;
/** @type {number[] | null} the cells when the last arrow key arrived, before the page saw the key */
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
  afterInput(); // a drawing on a canvas is no change that an observer sees
};

/** Check the current move again once the page has handled an input. */
let afterInput = () => {};

// -- finding ---------------------------------------------------------------------------------------------

/**
 * Find the board again if it has gone.
 *
 * @returns {{ found: boolean, reasons: Record<string, string> }} whether there is one, and by reader why the board
 *   that it saw is not one of 2048
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

/** Listen to input. A second call adds no second listener. */
const hearInput = () => {
  for (const type of INPUTS) window.addEventListener(type, noteInput, { capture: true, passive: true });
};

/**
 * Look for a board with one reader.
 *
 * @param {string} wanted the name of the reader
 * @param {SiteBoard | null} site the board of a site profile, for the reader that uses it
 */
export const attachTo = (wanted, site) => {
  if (site && !FINDERS.has(SITE)) FINDERS.set(SITE, siteReader(site));
  if (name !== wanted) reader = null;
  name = wanted;
  return attach();
};

/**
 * Read a board on a canvas with known cells; return whether the texts drawn on it make a board.
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

/** Turn to another board that the same reader sees; return whether there is one. */
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

/** Return where the board is in its frame. */
export const region = () => reader?.region?.() ?? null;

/** Return the reader's current reading without waiting; null without a board. */
export const look = () => reader?.read() ?? null;

// -- waiting ---------------------------------------------------------------------------------------------

const roots = () => reader?.roots?.() ?? [];
const byFrames = () => reader?.byFrames ?? false;

/** Notices when a reading differs from the last one in what matters. */
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
 * Return how many tiles have spawned if the cells are that slide plus a number of tiles that the rule allows; else
 * -1. An unknown look (below 0) may have any one value.
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
  // If the board follows the rules, an extra number is a text that floats over it.
  if (reading && (outcome === "slid" || outcome === "unchanged")) reading.odd = [];
  if (reading) reading.tiles = undefined; // nobody outside needs them
  return { outcome, reading, early, atKey, keysSeen, foreseen: false, name };
};

/**
 * Resolve when the board has been at rest for `quiet` ms, or after `cap` ms. With `fresh`, the page must first change
 * and show a board of a few small tiles. With `unblocked`, the win message must first disappear.
 *
 * @param {SettledRequest} request
 * @returns {Promise<Report>} "settled", "moving" (after `cap`) or "gone" (no board)
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

/** @type {(cells: number[] | null) => void} tells the board that the current move will probably make */
let tellForeseen = () => {};

/**
 * Resolve when a key has led from `before` to one of `afters` plus the spawned tile: at once if `trusting` and the
 * reading is sure, else after `quiet` ms of rest.
 *
 * @param {SlideRequest} request
 * @returns {Promise<Report>} "slid"; "unchanged" after `idle` ms without a change; "other" if another board came to
 *   rest (for `quietOther` ms, at most `cap`); "gone"
 */
export const awaitSlide = (request) => {
  reader?.learn?.(request.labels, request.ranks);
  const wait = new SlideWait(request);
  // A frame that changes nothing holds up the next one for 16 ms, so none is asked for before the key.
  return watch((clock) => wait.check(clock), { roots, byFrames: () => byFrames() && wait.isPressed });
};

/**
 * Resolve with the board that the current move will probably make, as soon as the page shows enough of it; with null
 * if the move is confirmed first.
 *
 * @returns {Promise<number[] | null>}
 */
export const awaitForeseen = () =>
  new Promise((resolve) => {
    tellForeseen(null);
    tellForeseen = resolve;
  });

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
    this.foreseen = false;
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
    afterInput = byFrames() && !this.isPressed ? () => clock.wake(0) : () => {};
    if (!reader && !attach().found) {
      if (this.isLate) return report("gone", null);
      clock.wake(this.began + this.request.cap - performance.now());
      return undefined;
    }
    const reading = /** @type {Reader} */ (/** @type {unknown} */ (reader)).read();
    this.change.note(reading, clock);
    const spawns = this.spawns(reading);
    const result = this.judge(reading, spawns, clock);
    if (result === undefined) {
      if (this.request.foresee && this.isPressed && !this.foreseen) this.foresee(reading, spawns);
      return undefined;
    }
    tellForeseen(null);
    return { ...result, foreseen: this.foreseen };
  }

  /**
   * @param {RawReading} reading
   * @param {number} spawns
   * @param {Clock} clock
   */
  judge(reading, spawns, clock) {
    if (spawns >= 0) return this.slid(reading, spawns, clock);
    if (areSame(this.request.before, reading.cells)) return this.unchanged(reading, clock);
    return this.other(reading, clock);
  }

  /**
   * Tell the board that the move will probably make, if the page shows enough of it.
   *
   * @param {RawReading} reading
   * @param {number} spawns
   */
  foresee(reading, spawns) {
    const isShown = spawns > 0 && (reading.sure || !reading.tiles);
    // The tiles' old places may obey the rules too, so they are the first explanation.
    const cells = (reading.tiles && this.behind(reading.tiles)) ?? (isShown ? reading.cells : null);
    if (!cells?.every((value) => value >= 0)) return;
    this.foreseen = true;
    tellForeseen(cells);
  }

  /**
   * Return the board that is about to appear, if the page still shows all tiles from before the move at their old
   * places, and above them the merged tiles and the spawned one. The original page does so in the frame after a key.
   *
   * @param {[number, number][]} tiles
   */
  behind(tiles) {
    const { before, afters, spawn } = this.request;
    const rest = new Map(before.flatMap((value, cell) => (value ? [[cell, value]] : [])));
    const added = tiles.filter(([cell, value]) => {
      const isOld = rest.get(cell) === value;
      if (isOld) rest.delete(cell);
      return !isOld;
    });
    if (rest.size || !areSame(atKey, before)) return null;
    for (const after of afters) {
      const spawned = added.filter(([cell]) => after[cell] === 0);
      if (spawned.length !== 1) continue; // two equal tiles are what a merge before has left there
      const cells = [...after];
      const [[place, tile]] = spawned;
      cells[place] = tile;
      const isShown = added.every(([cell, value]) => cells[cell] === value);
      if (isShown && spawnsOn(cells, after, spawn ?? STANDARD) > 0) return cells;
    }
    return null;
  }

  /** @param {RawReading} reading */
  spawns(reading) {
    const { before, afters, spawn } = this.request;
    // If the board had already changed when the key arrived, this key did not change it.
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
    const patience = spawns ? quiet : 2 * quietOther; // a tile may still spawn
    const isAtRest = clock.rested(this.change.at, patience, reading.moving);
    return isAtRest ? report("slid", reading, this.early) : undefined;
  }

  /**
   * @param {RawReading} reading
   * @param {Clock} clock
   */
  unchanged(reading, clock) {
    const { idle } = this.request;
    const left = Math.max(this.change.at, this.began) + 3 * idle - performance.now();
    if (!this.isPressed && left > 0) {
      clock.wake(Math.min(left, UNSEEN_MS));
      return undefined;
    }
    // A key that has not arrived may be on its way, or the page may hide it from us.
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
 * Resolve at the next change of the page, or after `ms`, with whether there was a change.
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

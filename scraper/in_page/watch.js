// Waits for the page to change or to come to rest, by its mutations, frames and animations.

const FRAMES_OF_REST = 3;
/** If the browser does not draw the page, frames never come. */
const REST_WITHOUT_FRAMES_MS = 400;
/** Decoration may move without end. */
const REST_WHILE_MOVING_MS = 500;
const FRAME_MS = 16;
const ENDS = ["animationend", "transitionend"];

/**
 * A check that runs at each change.
 *
 * @template T
 * @typedef {(watch: Watch<T>, mutations: number) => T | undefined} Check
 */

/**
 * What to watch in addition to the document: `roots`, because nothing outside a shadow root sees its changes; and
 * `byFrames`, whether the check runs in each frame, for drawings on canvases.
 *
 * @typedef {{ roots?: () => Node[], byFrames?: () => boolean }} Sources
 */

/**
 * One wait. It calls its check now, after each change of the page and at each wake time, until the check returns
 * something.
 *
 * @template T
 */
class Watch {
  /**
   * @param {Check<T>} check
   * @param {Sources} sources
   * @param {(value: T) => void} resolve
   * @param {(error: unknown) => void} reject
   */
  constructor(check, sources, resolve, reject) {
    this.check = check;
    this.roots = sources.roots ?? (() => []);
    this.byFrames = sources.byFrames ?? (() => false);
    this.resolve = resolve;
    this.reject = reject;
    this.timer = 0;
    this.frames = 0;
    this.isCounting = false;
    this.hearsEnds = false;
    this.looksNext = false;
    this.awaitsFrame = false;
    this.isDone = false;
    /** @type {Set<Node>} */
    this.watched = new Set();
    this.observer = new MutationObserver((records) => this.step(records.length));
    // An animation ends without a change of the page. One check in the frame covers all animations that end in it.
    this.atAnEnd = () => {
      if (this.looksNext) return;
      this.looksNext = true;
      requestAnimationFrame(() => {
        this.looksNext = false;
        this.step(0);
      });
    };
    this.observe(document);
    this.step(0);
  }

  /** Check again after a number of milliseconds, even without a change. */
  wake(/** @type {number} */ ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.step(0), Math.max(0, ms));
  }

  /** Begin to count the frames of rest again. */
  changed() {
    this.frames = 0;
  }

  /**
   * Return whether enough time and frames have passed since a change; if not, plan the next check.
   *
   * @param {number} since
   * @param {number} quiet milliseconds
   * @param {boolean} [moving] whether tiles are seen to move
   */
  rested(since, quiet, moving) {
    const left = since + (moving ? Math.max(quiet, REST_WHILE_MOVING_MS) : quiet) - performance.now();
    if (moving && left > FRAME_MS) {
      this.hearEnds();
      this.wake(FRAME_MS); // a movement may end without an event
      return false;
    }
    if (left <= 0 && (this.frames >= FRAMES_OF_REST || left <= -REST_WITHOUT_FRAMES_MS)) return true;
    if (this.frames < FRAMES_OF_REST) this.countNext();
    this.wake(left > 0 ? left : left + REST_WITHOUT_FRAMES_MS);
    return false;
  }

  /** Listen to the ends of animations, only if needed, because it makes the browser draw more frames. */
  hearEnds() {
    if (this.hearsEnds) return;
    this.hearsEnds = true;
    for (const type of ENDS) document.addEventListener(type, this.atAnEnd, true);
  }

  countNext() {
    if (this.isCounting) return;
    this.isCounting = true;
    requestAnimationFrame(() => {
      this.isCounting = false;
      if (this.isDone) return;
      this.frames += 1;
      if (this.frames < FRAMES_OF_REST) this.countNext();
      else this.step(0);
    });
  }

  awaitFrame() {
    if (this.awaitsFrame) return;
    this.awaitsFrame = true;
    requestAnimationFrame(() => {
      this.awaitsFrame = false;
      this.step(0);
    });
  }

  step(/** @type {number} */ mutations) {
    if (this.isDone) return;
    try {
      const result = this.check(this, mutations);
      for (const root of this.roots()) if (!this.watched.has(root)) this.observe(root);
      if (result === undefined) {
        if (this.byFrames()) this.awaitFrame();
        return;
      }
      this.finish();
      this.resolve(result);
    } catch (error) {
      this.finish();
      this.reject(error);
    }
  }

  observe(/** @type {Node} */ root) {
    this.watched.add(root);
    this.observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  }

  finish() {
    this.isDone = true;
    this.observer.disconnect();
    if (this.hearsEnds) for (const type of ENDS) document.removeEventListener(type, this.atAnEnd, true);
    clearTimeout(this.timer);
  }
}

/**
 * Wait until a check returns something.
 *
 * @template T
 * @param {Check<T>} check
 * @param {Sources} [sources]
 * @returns {Promise<T>}
 */
export const watch = (check, sources = {}) =>
  new Promise((resolve, reject) => {
    new Watch(check, sources, resolve, reject);
  });

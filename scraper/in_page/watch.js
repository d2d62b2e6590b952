// Waiting for the page to change and to come to rest: on its mutations, frames and animations, never by polling.

const FRAMES_OF_REST = 3;
/** Where the page is not being drawn, frames never come. */
const REST_WITHOUT_FRAMES_MS = 400;
/** Decoration may move on and on. */
const REST_WHILE_MOVING_MS = 500;
const FRAME_MS = 16;
const ENDS = ["animationend", "transitionend"];

/**
 * A check that is made at every change.
 *
 * @template T
 * @typedef {(watch: Watch<T>, mutations: number) => T | undefined} Check
 */

/**
 * What else to watch besides the document: `roots`, since changes inside shadow roots are not told outside of them;
 * and whether a check is made in every frame, for what is drawn on canvases.
 *
 * @typedef {{ roots?: () => Node[], byFrames?: () => boolean }} Sources
 */

/**
 * One wait: calls its check now, whenever the page has changed, and when it was asked to wake, until the check
 * returns something.
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
    // Animations end without a change of the page. Those that end in one frame are looked at once, in that frame.
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

  /** Check again after so many milliseconds, whatever happens. */
  wake(/** @type {number} */ ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.step(0), Math.max(0, ms));
  }

  /** Count the frames of rest from now on. */
  changed() {
    this.frames = 0;
  }

  /**
   * Whether some time and some frames have passed; if not, sees to it that the check is made again.
   *
   * @param {number} since
   * @param {number} quiet milliseconds
   * @param {boolean} [moving] whether tiles are seen to move
   */
  rested(since, quiet, moving) {
    const left = since + (moving ? Math.max(quiet, REST_WHILE_MOVING_MS) : quiet) - performance.now();
    if (moving && left > FRAME_MS) {
      this.hearEnds();
      this.wake(FRAME_MS); // what moves may come to rest without telling
      return false;
    }
    if (left <= 0 && (this.frames >= FRAMES_OF_REST || left <= -REST_WITHOUT_FRAMES_MS)) return true;
    if (this.frames < FRAMES_OF_REST) this.countNext();
    this.wake(left > 0 ? left : left + REST_WITHOUT_FRAMES_MS);
    return false;
  }

  /** Listen to the ends of animations. Only where need be: the browser draws more frames for such a page. */
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

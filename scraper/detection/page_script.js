// What runs inside the page: it finds the board with the first reader that knows it, and waits, on changes
// of the page and never by polling, for the board to come to rest.
//
// This file is one expression: a function of the readers, in the order to try, that returns the probe. A
// reader is {name, find}; find() looks for its kind of board and returns {read} or null; read() returns
//
//   rows, columns   the size
//   cells           face values row by row, 0 for empty; NaN for a tile that could not be read
//   sure            false while something in the picture contradicts itself (tiles on top of each other)
//   score, best     their decimal digits as a string, or null
//   won, over       whether the page shows such a message
//
// and may return
//
//   moving          true while tiles are seen to move: such a board is believed only after a longer rest
//   merging         true while two equal tiles lie in one cell: what they make may be yet to come
//   looks           a key for the look of each cell, where values are learned; unknown ones are < 0 in `cells`
//   rivals          true where the page shows another board of that size, so that this may be the wrong one
//   odd             numbers on tiles that no tile of 2048 bears
//
// A reader may also have: isAlive(), whether its board is still there (else it is found anew at every look);
// region(), where the board is; skip(), to find another board from now on, and unskip(); roots(), what else to watch for changes; learn(labels, ranks),
// values of looks, and whether tiles show the power of 2.
// find() may return {why} instead: the reason why a board seen is none of 2048.
//
// Nothing here knows the rules of the game: what a slide may lead to comes from outside, as `afters`.
(readers) => {
  const KEYS = new Set(["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft", "w", "d", "s", "a", "k", "l", "j", "h"]);
  const FRAMES_OF_REST = 3;
  const REST_WITHOUT_FRAMES_MS = 400; // where the page is not being drawn, frames never come
  const REST_WHILE_MOVING_MS = 500; // decoration may move on and on
  const FRAME_MS = 16;
  const ENDS = ["animationend", "transitionend"];

  let name = null;
  let reader = null;
  let keysSeen = 0;
  let keyAt = 0;
  let atKey = null; // the cells as they were when the last arrow key arrived, before the page saw it

  const now = () => performance.now();
  const same = (a, b) => a.length === b.length && a.every((value, index) => value === b[index]);

  const onInput = (event) => {
    if (!event.isTrusted || !reader || (event.key && (!KEYS.has(event.key) || event.repeat))) return;
    keysSeen += 1;
    keyAt = now();
    atKey = reader.read().cells;
  };

  let reasons = {};
  let allowed = null; // the names of the readers to try; null for all

  const attach = () => {
    if (reader?.isAlive?.()) return true;
    reader = null;
    reasons = {};
    for (const candidate of readers) {
      if (allowed && !allowed.includes(candidate.name)) continue;
      const found = candidate.find();
      if (found?.why) reasons[candidate.name] = found.why;
      if (!found?.read) continue;
      reader = found;
      name = candidate.name;
      for (const type of ["keydown", "pointerdown", "touchstart"]) {
        window.addEventListener(type, onInput, { capture: true, passive: true }); // once, however often called
      }
      return true;
    }
    return false;
  };

  // Lets only these readers look, and learns what is known of looks.
  const attachTo = (names) => {
    allowed = names;
    if (!names.includes(name)) reader = null;
    return { found: attach(), reasons };
  };

  // Calls check(clock, mutations) now, whenever the page has changed, and when the clock was asked to wake
  // it, until it returns something; the promise resolves to that.
  const watch = (check) =>
    new Promise((resolve, reject) => {
      let timer = 0;
      let frames = 0;
      let counting = false;
      let hearsEnds = false;
      let looksNext = false;
      let done = false;
      const observer = new MutationObserver((records) => step(records.length));
      const watched = new Set();

      const finish = (settle, value) => {
        done = true;
        observer.disconnect();
        if (hearsEnds) for (const type of ENDS) document.removeEventListener(type, atAnEnd, true);
        clearTimeout(timer);
        settle(value);
      };
      // Animations end without a change of the page. Those that end in one frame are looked at once, in that frame.
      const atAnEnd = () => {
        if (looksNext) return;
        looksNext = true;
        requestAnimationFrame(() => {
          looksNext = false;
          step(0);
        });
      };
      // Only where need be: the browser draws more frames for a page that listens to this.
      const hearEnds = () => {
        if (hearsEnds) return;
        hearsEnds = true;
        for (const type of ENDS) document.addEventListener(type, atAnEnd, true);
      };
      const countFrame = () => {
        counting = false;
        if (done) return;
        frames += 1;
        if (frames < FRAMES_OF_REST) countNext();
        else step(0);
      };
      const countNext = () => {
        if (counting) return;
        counting = true;
        requestAnimationFrame(countFrame);
      };
      const clock = {
        wake: (ms) => {
          clearTimeout(timer);
          timer = setTimeout(step, Math.max(0, ms), 0);
        },
        changed: () => {
          frames = 0;
        },
        // True once `quiet` ms and some frames have passed since `since`; else sees to it that we come back.
        rested: (since, quiet, moving) => {
          const left = since + (moving ? Math.max(quiet, REST_WHILE_MOVING_MS) : quiet) - now();
          if (moving && left > FRAME_MS) {
            hearEnds();
            clock.wake(FRAME_MS); // what moves may come to rest without telling
            return false;
          }
          if (left <= 0 && (frames >= FRAMES_OF_REST || left <= -REST_WITHOUT_FRAMES_MS)) return true;
          if (frames < FRAMES_OF_REST) countNext();
          clock.wake(left > 0 ? left : left + REST_WITHOUT_FRAMES_MS);
          return false;
        },
      };
      const step = (mutations) => {
        if (done) return;
        try {
          const result = check(clock, mutations);
          observeRoots();
          if (result !== undefined) finish(resolve, result);
        } catch (error) {
          finish(reject, error);
        }
      };
      const observe = (root) => {
        watched.add(root);
        observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
      };
      // Changes inside shadow roots are not told outside of them.
      const observeRoots = () => {
        if (done || !reader?.roots) return;
        for (const root of reader.roots()) if (!watched.has(root)) observe(root);
      };
      observe(document);
      step(0);
    });

  // Notices when what matters in a reading differs from the last one.
  const changeOf = (withScore) => {
    let last = null;
    const change = {
      at: now(),
      happened: (reading, clock) => {
        const key = `${reading.cells}|${reading.won}|${reading.over}|${withScore ? reading.score : ""}`;
        if (key === last) return;
        last = key;
        change.at = now();
        clock.changed();
      },
    };
    return change;
  };

  // How many tiles have spawned if the cells are that slide plus as many as the rules want, else -1. A look that
  // is not known yet (below 0) may be any one value.
  const spawnsOn = (cells, after, { values, least, most }) => {
    if (cells.length !== after.length) return -1;
    let spawns = 0;
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
  const STANDARD = { values: [2, 4], least: 1, most: 1 };

  const isFresh = (reading) => {
    const tiles = reading.cells.filter((value) => value !== 0);
    return tiles.length > 0 && tiles.length <= 4 && Math.max(...tiles) <= 4 && !reading.over && !reading.won;
  };

  const report = (outcome, reading, early) => {
    // Beside a board that obeys the rules a stray number is something that floats over it.
    if (reading && (outcome === "slid" || outcome === "unchanged")) reading.odd = [];
    return { outcome, reading, early, atKey, keysSeen, name };
  };

  return {
    attach,
    attachTo,

    // Leaves this board for another that the same reader sees; whether there is one.
    skip: () => {
      const left = reader;
      if (!left?.skip) return false;
      left.skip();
      reader = null;
      if (attach()) return true;
      left.unskip();
      reader = left;
      return false;
    },

    // Where the board is in its frame.
    region: () => reader?.region?.() ?? null,

    // Resolves once the board has been at rest for `quiet` ms, or after `cap` ms anyhow; with `fresh` not
    // before the page has changed and shows a board of a few small tiles; with `unblocked` not before the
    // message of the win has gone. outcome: "settled", "moving" (not so within `cap`) or "gone" (no board).
    awaitSettled: ({ quiet, cap, fresh, unblocked, labels, ranks }) => {
      reader?.learn?.(labels, ranks);
      const began = now();
      const change = changeOf(true);
      let changed = false;
      return watch((clock, mutations) => {
        changed ||= mutations > 0;
        const isLate = now() - began >= cap;
        const reading = attach() ? reader.read() : null;
        if (reading) change.happened(reading, clock);
        const isWanted =
          reading !== null &&
          !(fresh && !(changed && isFresh(reading))) &&
          !(unblocked && reading.won);
        if (isWanted && clock.rested(change.at, quiet, reading.moving)) return report("settled", reading, null);
        if (isLate) return report(reading ? "moving" : "gone", reading, null);
        if (!isWanted) clock.wake(began + cap - now());
        return undefined;
      });
    },

    // Resolves once a key has led from `before` to one of `afters` plus the spawned tile: at once if `trusting` and
    // the reading is sure, else after `quiet` ms of rest. outcome: "slid"; "unchanged" after `idle` ms
    // without any change; "other" when the board came to rest (`quietOther` ms, at most `cap`) elsewhere;
    // "gone". early: the first board that would have been accepted in trust.
    awaitSlide: ({ before, afters, spawn, score, keys, trusting, quiet, idle, quietOther, cap, labels, ranks }) => {
      reader?.learn?.(labels, ranks);
      const wanted = spawn ?? STANDARD;
      const began = now();
      const change = changeOf(score !== null);
      let early = null;
      return watch((clock) => {
        if (!reader && !attach()) {
          if (now() - began >= cap) return report("gone", null, null);
          clock.wake(began + cap - now());
          return undefined;
        }
        const reading = reader.read();
        change.happened(reading, clock);
        // A board that had already moved on when the key arrived was not moved by this key.
        const late = keysSeen > keys && !same(atKey, before);
        const spawns = late ? -1 : Math.max(...afters.map((after) => spawnsOn(reading.cells, after, wanted)));
        if (spawns >= 0) {
          const scored = score === null || reading.score === score;
          if (reading.sure && spawns && scored && keysSeen > keys) {
            early ??= reading.cells;
            if (trusting) return report("slid", reading, early);
          }
          const patience = spawns ? quiet : 2 * quietOther; // where tiles need not spawn, one may still come
          return clock.rested(change.at, patience, reading.moving) ? report("slid", reading, early) : undefined;
        }
        if (same(reading.cells, before)) {
          // A key that has not arrived yet may be on its way, or be kept from us by the page.
          const patience = keysSeen > keys ? idle : 3 * idle;
          const since = Math.max(change.at, began, keysSeen > keys ? keyAt : 0);
          return clock.rested(since, patience) ? report("unchanged", reading, null) : undefined;
        }
        const spawnIsDue = afters.some((after) => same(reading.cells, after));
        const patience = reading.merging ? cap : spawnIsDue ? 2 * quietOther : quietOther;
        if (now() - began >= cap || clock.rested(change.at, patience, reading.moving)) return report("other", reading, null);
        return undefined;
      });
    },

    // Resolves at the next change of the page, or after `ms`; whether there was one.
    awaitChange: (ms) => {
      const until = now() + ms;
      return watch((clock, mutations) => {
        if (mutations > 0 || now() >= until) return mutations > 0;
        clock.wake(until - now());
        return undefined;
      });
    },
  };
}

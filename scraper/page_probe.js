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
// Nothing here knows the rules of the game: what a slide leads to comes from outside, as `after`.
(readers) => {
  const ARROWS = new Set(["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"]);
  const FRAMES_OF_REST = 3;
  const REST_WITHOUT_FRAMES_MS = 400; // where the page is not being drawn, frames never come

  let name = null;
  let reader = null;
  let keysSeen = 0;
  let atKey = null; // the cells as they were when the last arrow key arrived, before the page saw it

  const now = () => performance.now();
  const same = (a, b) => a.length === b.length && a.every((value, index) => value === b[index]);

  const onKey = (event) => {
    if (!event.isTrusted || !ARROWS.has(event.key) || !reader) return;
    keysSeen += 1;
    atKey = reader.read().cells;
  };

  const attach = () => {
    reader = null;
    for (const candidate of readers) {
      reader = candidate.find();
      if (!reader) continue;
      name = candidate.name;
      window.addEventListener("keydown", onKey, { capture: true, passive: true }); // once, however often called
      return true;
    }
    return false;
  };

  // Calls check(clock, mutations) now, whenever the page has changed, and when the clock was asked to wake
  // it, until it returns something; the promise resolves to that.
  const watch = (check) =>
    new Promise((resolve, reject) => {
      let timer = 0;
      let frames = 0;
      let counting = false;
      let done = false;
      const observer = new MutationObserver((records) => step(records.length));

      const finish = (settle, value) => {
        done = true;
        observer.disconnect();
        clearTimeout(timer);
        settle(value);
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
        rested: (since, quiet) => {
          const left = since + quiet - now();
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
          if (result !== undefined) finish(resolve, result);
        } catch (error) {
          finish(reject, error);
        }
      };
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
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

  const isSlidePlusSpawn = (cells, after) => {
    let spawns = 0;
    for (let i = 0; i < after.length; i += 1) {
      if (cells[i] === after[i]) continue;
      if (after[i] !== 0 || (cells[i] !== 2 && cells[i] !== 4)) return false;
      spawns += 1;
    }
    return spawns === 1 && cells.length === after.length;
  };

  const isFresh = (reading) => {
    const tiles = reading.cells.filter((value) => value !== 0);
    return tiles.length > 0 && tiles.length <= 4 && Math.max(...tiles) <= 4 && !reading.over && !reading.won;
  };

  const report = (outcome, reading, early) => ({ outcome, reading, early, atKey, keysSeen, name });

  return {
    attach,

    // Resolves once the board has been at rest for `quiet` ms, or after `cap` ms anyhow; with `fresh` not
    // before the page has changed and shows a board of a few small tiles; with `unblocked` not before the
    // message of the win has gone. outcome: "settled", "moving" (not so within `cap`) or "gone" (no board).
    awaitSettled: ({ quiet, cap, fresh, unblocked }) => {
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
        if (isWanted && clock.rested(change.at, quiet)) return report("settled", reading, null);
        if (isLate) return report(reading ? "moving" : "gone", reading, null);
        if (!isWanted) clock.wake(began + cap - now());
        return undefined;
      });
    },

    // Resolves once a key has led from `before` to `after` plus one spawned tile: at once if `trusting` and
    // the reading is sure, else after `quiet` ms of rest. outcome: "slid"; "unchanged" after `idle` ms
    // without any change; "other" when the board came to rest (`quietOther` ms, at most `cap`) elsewhere;
    // "gone". early: the first board that would have been accepted in trust.
    awaitSlide: ({ before, after, score, keys, trusting, quiet, idle, quietOther, cap }) => {
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
        if (!late && isSlidePlusSpawn(reading.cells, after)) {
          const scored = score === null || reading.score === score;
          if (reading.sure && scored && keysSeen > keys) {
            early ??= reading.cells;
            if (trusting) return report("slid", reading, early);
          }
          return clock.rested(change.at, quiet) ? report("slid", reading, early) : undefined;
        }
        if (same(reading.cells, before)) {
          return clock.rested(change.at, idle) ? report("unchanged", reading, null) : undefined;
        }
        if (now() - began >= cap || clock.rested(change.at, quietOther)) return report("other", reading, null);
        return undefined;
      });
    },

    // Resolves at the next change of the page, or after `ms`.
    awaitChange: (ms) => {
      const until = now() + ms;
      return watch((clock, mutations) => {
        if (mutations > 0 || now() >= until) return true;
        clock.wake(until - now());
        return undefined;
      });
    },
  };
}

// The window of the page.

/** Return the scroll position and the size of the window: left, top, width, height. */
export const scrolling = () => [scrollX, scrollY, innerWidth, innerHeight];

/** Return what the page sees of its window and screen, in CSS pixels. */
export const metrics = () => ({
  width: innerWidth,
  height: innerHeight,
  screenWidth: screen.width,
  screenHeight: screen.height,
  pixelRatio: devicePixelRatio,
  orientation: screen.orientation.type,
  angle: screen.orientation.angle,
});

/**
 * Resolve after a number of frames; if the browser does not draw the page, after some milliseconds.
 *
 * @param {number} count
 * @param {number} ms
 * @returns {Promise<boolean>}
 */
export const awaitFrames = (count, ms) =>
  new Promise((resolve) => {
    let left = count;
    const timer = setTimeout(() => resolve(false), ms);
    const next = () => {
      left -= 1;
      if (left >= 0) {
        requestAnimationFrame(next);
        return;
      }
      clearTimeout(timer);
      resolve(true);
    };
    next();
  });

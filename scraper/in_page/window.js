// The window that the page is seen through.

/** How far it is scrolled and how large it is: left, top, width, height. */
export const scrolling = () => [scrollX, scrollY, innerWidth, innerHeight];

/**
 * Resolve once the page has had so many frames; sooner after so many milliseconds, where it is not being drawn.
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

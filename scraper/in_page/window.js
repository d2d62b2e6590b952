// The window that the page is seen through.

/** How far it is scrolled and how large it is: left, top, width, height. */
export const scrolling = () => [scrollX, scrollY, innerWidth, innerHeight];

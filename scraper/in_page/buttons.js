// Finds the buttons of a page that make a move.

import { classesOf, walk } from "./dom.js";

const BUTTON =
  "button, [role=button], input[type=button], [onclick], a, img, svg, " +
  "[class*=btn], [class*=arrow], [class*=button]";

/**
 * Return the texts and names of an element, for people and for programs.
 *
 * @param {Element} element
 * @returns {string[]}
 */
const sayingsOf = (element) => {
  const shown = element instanceof HTMLInputElement ? element.value : "";
  const alt = element instanceof HTMLImageElement ? element.alt : "";
  const isStyled = element instanceof HTMLElement || element instanceof SVGElement;
  const named = isStyled ? Object.values(element.dataset).map((value) => value ?? "") : [];
  const [text, title] = element instanceof HTMLElement ? [element.innerText, element.title] : ["", ""];
  const label = element.getAttribute("aria-label") ?? "";
  const texts = [text || shown, label, title, alt, element.id, classesOf(element), ...named];
  return texts.map((one) => one.trim()).filter((one) => one.length < 40);
};

/** @param {Element} element */
const isSmallButton = (element) => {
  if (element.childElementCount > 3) return false;
  if (!element.matches(BUTTON) && getComputedStyle(element).cursor !== "pointer") return false;
  if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  const box = element.getBoundingClientRect();
  return box.width >= 8 && box.height >= 8 && box.width <= 300 && box.height <= 200;
};

/**
 * Return the centres of the four buttons that make the moves; null if one is missing.
 *
 * @param {Record<string, string>} patterns by direction, a pattern for the text of its button
 * @returns {Record<string, [number, number]> | null}
 */
export const directionButtons = (patterns) => {
  const wanted = Object.entries(patterns).map(([direction, pattern]) => ({
    direction,
    pattern: new RegExp(pattern, "iu"),
  }));
  /** @type {Record<string, [number, number]>} */
  const found = {};
  walk(document, (element) => {
    if (!isSmallButton(element)) return;
    const says = sayingsOf(element);
    for (const { direction, pattern } of wanted) {
      if (direction in found || !says.some((text) => pattern.test(text))) continue;
      const box = element.getBoundingClientRect();
      if (box.top < 0 || box.bottom > innerHeight) element.scrollIntoView({ block: "center" });
      const now = element.getBoundingClientRect();
      found[direction] = [now.left + now.width / 2, now.top + now.height / 2];
    }
  });
  return Object.keys(found).length === wanted.length ? found : null;
};

/**
 * Return whether a click at a point would press a button.
 *
 * @param {number} x
 * @param {number} y
 */
export const isButtonAt = (x, y) =>
  Boolean(document.elementFromPoint(x, y)?.closest("button, a, [role=button], input"));

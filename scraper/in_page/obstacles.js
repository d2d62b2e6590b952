// Finds what covers the game: buttons that start it, close a message or accept a banner, and fields to fill in. Also
// reads the messages of the page.

import { isShown, namesOf, walk } from "./dom.js";

const MODAL = "dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true]";
const BUTTON = "button, a, [role=button], input[type=button], input[type=submit], [onclick], label, summary";
const INVITES = /\bto (start|play|begin|continue)\b/i;
const CLOSES = /(^|[-_ ])(close|dismiss)([-_ ]|$)/i;
const IN_PAGE = /^(#|javascript:)/i;
const TRANSPARENT = /^rgba\(.*,\s*0\)$/;
const MOST_FOUND = 8;

/**
 * What to look for.
 *
 * @typedef {object} Wanted
 * @property {string} pattern pattern for the text of a thing to click
 * @property {string} taboo pattern for texts that are never clicked
 * @property {string[]} taken keys of things that have been clicked already
 * @property {boolean} modal whether to find only things that cover the page
 * @property {boolean} leave whether to find links to other pages of the site too
 */

/**
 * A thing to click: its text, its centre in the frame, and the number of elements in it.
 *
 * @typedef {{ key: string, text: string, x: number, y: number, inner: number }} Found
 */

/** @param {Element} element */
const isVeil = (element) => {
  const style = getComputedStyle(element);
  if (style.position !== "fixed" && style.position !== "absolute") return false;
  if (TRANSPARENT.test(style.backgroundColor) && style.backdropFilter === "none") return false;
  const box = element.getBoundingClientRect();
  if (Math.min(box.width, box.height) < 100) return false;
  const below = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return below.some((other) => !element.contains(other) && !other.contains(element));
};

/** @param {Element} element */
const liesOver = (element) => {
  if (element.closest(MODAL)) return true;
  for (let node = /** @type {Element | null} */ (element); node; node = node.parentElement) {
    if (isVeil(node)) return true;
  }
  return false;
};

/**
 * Return whether a click stays on this page, or, with `leave`, on this site.
 *
 * @param {Element} element
 * @param {boolean} leave
 */
const isHere = (element, leave) => {
  const link = element.closest("a[href]");
  if (!(link instanceof HTMLAnchorElement)) return true;
  if (leave && link.origin === location.origin && !link.target) return true;
  const isSame = link.href.split("#")[0] === location.href.split("#")[0];
  return isSame || IN_PAGE.test(link.getAttribute("href") ?? "");
};

/** @param {Element} element */
const textOf = (element) => {
  if (element instanceof HTMLInputElement && element.value) return element.value.trim();
  if (!(element instanceof HTMLElement)) return (element.getAttribute("aria-label") ?? "").trim();
  const icon = !element.innerText && CLOSES.test(namesOf(element)) ? "close" : "";
  const value = element instanceof HTMLButtonElement ? element.value : "";
  return (value || element.innerText || element.getAttribute("aria-label") || element.title || icon).trim();
};

/**
 * @param {Element} element
 * @param {string} text
 * @param {Wanted} wanted
 */
const isToClick = (element, text, { modal, leave }) => {
  const isButton = element.matches(BUTTON);
  const looksSo = () =>
    INVITES.test(text) ||
    getComputedStyle(element).cursor === "pointer" ||
    (element instanceof HTMLElement && element.onclick !== null);
  if (!isButton && !looksSo()) return false;
  if (modal && !(isButton && liesOver(element))) return false;
  return !element.matches(":disabled") && isShown(element) && isHere(element, leave);
};

/**
 * Return the visible things to click whose text fits, the shortest texts first.
 *
 * @param {Wanted} wanted
 */
export const findObstacles = (wanted) => {
  const pattern = new RegExp(wanted.pattern, "iu");
  const taboo = new RegExp(wanted.taboo, "iu");
  /** @type {Found[]} */
  const found = [];
  walk(document, (element) => {
    if (element.childElementCount > 4) return;
    const text = textOf(element);
    if (!text || text.length > 40 || !pattern.test(text) || taboo.test(text)) return;
    const key = `${text}@${element.localName}`;
    if (wanted.taken.includes(key) || !isToClick(element, text, wanted)) return;
    const box = element.getBoundingClientRect();
    if (box.width < 5 || box.height < 5) return;
    found.push({ key, text, ...centreInView(element), inner: element.childElementCount });
  });
  found.sort((a, b) => a.text.length - b.text.length);
  return found.slice(0, MOST_FOUND);
};

/**
 * Return the centre of an element; scroll to it if it is out of sight.
 *
 * @param {Element} element
 */
export const centreInView = (element) => {
  const centre = () => {
    const box = element.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  };
  const { x, y } = centre();
  const isInView = x >= 0 && y >= 0 && x <= innerWidth && y <= innerHeight;
  if (!isInView) element.scrollIntoView({ block: "center" });
  return centre();
};

/** Return the centre of the only empty field, which may ask for a name; null if there is no or more than one. */
export const loneField = () => {
  const fields = [...document.querySelectorAll("input:not([type]), input[type=text]")].filter(
    (field) =>
      field instanceof HTMLInputElement &&
      !field.value &&
      !field.readOnly &&
      !field.disabled &&
      isShown(field),
  );
  return fields.length === 1 ? centreInView(fields[0]) : null;
};

/**
 * Choose an option in a list that shows another one; return whether there was one.
 *
 * @param {string} pattern pattern for the text of the option
 */
export const choose = (pattern) => {
  const wanted = new RegExp(pattern, "iu");
  for (const field of document.querySelectorAll("select")) {
    const option = [...field.options].find((one) => wanted.test(one.text) && !one.selected);
    if (!option || field.disabled || !isShown(field)) continue;
    option.selected = true;
    for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    return true;
  }
  return false;
};

/**
 * Return the visible text of the page.
 *
 * @param {number} most the most letters to return
 */
export const pageText = (most) => (document.body?.innerText ?? "").slice(0, most);

/**
 * Return whether the page or its title shows a text.
 *
 * @param {string} text
 */
export const says = (text) => `${document.title} ${document.body?.innerText ?? ""}`.includes(text);

// -- loading ---------------------------------------------------------------------------------------------

/** Return how far the page has loaded: "loading", "interactive" or "complete". */
export const readyState = () => document.readyState;

/** Return whether a board may appear without a change of the elements: by drawing, or by an endless animation. */
export const isLively = () => {
  /** @type {(animation: Animation) => boolean} */
  const isEndless = (animation) =>
    animation.playState === "running" &&
    animation.effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY;
  return (
    document.querySelector("canvas, iframe, video, object, embed") !== null ||
    document.getAnimations().some(isEndless)
  );
};

/**
 * Return whether the page says little except that it is loading.
 *
 * @param {string} pattern pattern for the words that say so
 * @param {number} most the most letters of such a page
 */
export const saysLoading = (pattern, most) => {
  if (pageText(most + 1).length > most) return false;
  const word = new RegExp(pattern, "iu");
  /** @type {(element: Element) => boolean} */
  const says = (element) => {
    if (element.localName === "progress") return true;
    const text = element.textContent ?? "";
    return element.childElementCount <= 2 && text.length < 60 && word.test(text.trim());
  };
  return [...document.querySelectorAll("body, body *:not(script, style)")].some(
    (element) => says(element) && isShown(element),
  );
};

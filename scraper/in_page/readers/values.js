// Reads what elements show: numbers, names and looks.

import { directText } from "../dom.js";

/**
 * Return whether a number is a power of two.
 *
 * @param {number} value
 */
export const isPower = (value) => value >= 1 && Number.isInteger(Math.log2(value));

/**
 * Return the text of an element itself: its own text, the value of a field, or text from its style.
 *
 * @param {Element} element
 * @returns {string}
 */
export const ownText = (element) => {
  const text = directText(element).trim();
  if (text || element.childElementCount) return text;
  if (element instanceof HTMLInputElement) return element.value.trim();
  for (const pseudo of ["::before", "::after"]) {
    const content = getComputedStyle(element, pseudo).content;
    if (content.startsWith('"') && content.length > 2) return content.slice(1, -1).trim();
  }
  return "";
};

// Convert digits of any script to 0 to 9.
const ZEROS = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20,
  0x1040, 0x17e0, 0xff10,
];
/** @param {string} text */
const plainDigits = (text) =>
  text.replace(/[\u0080-\u{10ffff}]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    const zero = ZEROS.find((first) => code >= first && code < first + 10);
    return zero === undefined ? sign : String(code - zero);
  });

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Parse a number as tiles show it: "1024", "1,024", "1 024", "2K", "2^10", "2¹⁰". Return NaN for other texts.
 *
 * @param {string} shown
 */
export const numberIn = (shown) => {
  const text = plainDigits(shown);
  const power = /^2(?:\^|\*\*)(\d{1,2})$/.exec(text) ?? /^2([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})$/.exec(text);
  if (power) {
    const digits = [...power[1]].map((sign) => (RAISED.includes(sign) ? RAISED.indexOf(sign) : sign));
    return 2 ** Number(digits.join(""));
  }
  const thousands = /^(\d{1,3})\s?k$/i.exec(text);
  if (thousands) return Number(thousands[1]) * 1024;
  if (/^\d{1,7}$/.test(text)) return Number(text);
  if (/^\d{1,3}([.,'’\s]\d{3})+$/.test(text)) return Number(text.replace(/\D/g, ""));
  return NaN;
};

/**
 * Return the size of an element's letters in pixels.
 *
 * @param {Element} element
 */
export const fontOf = (element) => parseFloat(getComputedStyle(element).fontSize) || 0;

/**
 * Return the number on a tile that consists of several pieces: separate digits, or 2 with a raised exponent.
 *
 * @param {Element} tile
 */
export const pieced = (tile) => {
  const raised = tile.querySelectorAll("sup");
  if (raised.length > 1 || tile.childElementCount === 0) return NaN;
  const digits = plainDigits(tile.textContent ?? "").replace(/\s/g, "");
  if (!raised.length) {
    const fonts = [...tile.querySelectorAll("*")].filter(ownText).map(fontOf);
    return /^\d{2,7}$/.test(digits) && Math.min(...fonts) > 0.9 * Math.max(...fonts) ? Number(digits) : NaN;
  }
  const exponent = plainDigits(raised[0].textContent ?? "").trim();
  return digits === `2${exponent}` && /^\d{1,2}$/.test(exponent) ? 2 ** Number(exponent) : NaN;
};

/**
 * Return the numbers in an element's attributes, each with the prefix before it.
 *
 * @param {Element} element
 */
export const tokensOf = (element) => {
  /** @type {[string, number][]} */
  const tokens = [];
  for (const { name, value } of element.attributes) {
    if (name === "style") {
      for (const [, property, number] of value.matchAll(/--([\w-]+)\s*:\s*"?(\d{1,7})"?\s*(?:;|$)/g)) {
        tokens.push([`--${property}=`, Number(number)]);
      }
    } else if (name === "class") {
      for (const word of value.split(/\s+/)) {
        const parts = /^(.*?)(\d{1,7})$/.exec(word);
        if (parts) tokens.push([parts[1], Number(parts[2])]);
      }
    } else if (name.startsWith("data-") || name === "value" || name === "aria-label" || name === "alt") {
      if (/^\d{1,7}$/.test(value.trim())) tokens.push([`${name}=`, Number(value)]);
    }
  }
  return tokens;
};

/**
 * Return a short key for a long text.
 *
 * @param {string} text
 */
export const hash = (text) => {
  let a = 0x811c9dc5;
  let b = 5381;
  for (let i = 0; i < text.length; i += 1) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = (Math.imul(b, 33) + text.charCodeAt(i)) | 0;
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36);
};

/** @param {string} color */
const isClear = (color) => color === "transparent" || /^rgba\(.*,\s*0\)$/.test(color);

/** @param {HTMLCanvasElement} canvas */
const pictureOf = (canvas) => {
  try {
    return hash(canvas.toDataURL());
  } catch {
    return "canvas"; // with pictures from elsewhere on it
  }
};

/**
 * Return a text that describes the look of an element.
 *
 * @param {Element} element
 * @param {boolean} bare whether to leave out the background colour, which may belong to the cell
 */
export const lookOf = (element, bare) => {
  const style = getComputedStyle(element);
  const parts = [];
  const text = ownText(element);
  if (text) parts.push(text);
  if (!bare && !isClear(style.backgroundColor)) parts.push(style.backgroundColor);
  if (style.backgroundImage !== "none") parts.push(style.backgroundImage, style.backgroundPosition);
  if (element instanceof HTMLImageElement) parts.push(element.currentSrc || element.src);
  if (element instanceof HTMLCanvasElement) parts.push(pictureOf(element));
  if (style.filter !== "none") parts.push(style.filter);
  if (element.localName === "svg") {
    parts.push(element.innerHTML.replace(/\s(id|data-[\w-]+)="[^"]*"|url\([^)]*\)/g, ""));
  } else if (element instanceof SVGElement) {
    const fill = style.fill.replace(/url\([^)]*\)/g, "");
    const [path, link] = [element.getAttribute("d") ?? "", element.getAttribute("href") ?? ""];
    parts.push(element.localName, fill, path, link);
  }
  return parts.join("|");
};

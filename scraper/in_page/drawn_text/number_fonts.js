// Keeps the fonts in which the page has drawn numbers, on any canvas. A number may reach the board as a texture of
// WebGL; there it is recognised by its font.

const MOST_FONTS = 8;
const MOST_DIGITS = 6;
const FIELD = "\u001f";
const FONT = "\u001e";

/** @type {{ font: string, kind: string, outline: number }[]} fonts, with the width of the outline of their digits */
const fonts = [];

/** @param {string} text */
const isNumber = (text) => {
  if (text.length > MOST_DIGITS) return false;
  for (let i = 0; i < text.length; i += 1) if (!(text[i] >= "0" && text[i] <= "9")) return false;
  return true;
};

/** Return a font without its size. @param {string} font */
const kindOf = (font) => {
  let kind = "";
  for (let i = 0; i < font.length; i += 1) if (!(font[i] >= "0" && font[i] <= "9")) kind += font[i];
  return kind;
};

/**
 * Note that a text was drawn.
 *
 * @param {string} text
 * @param {string} font
 * @param {number} outline the width of its outline; 0 if it was filled
 */
export const noteNumber = (text, font, outline) => {
  if (!isNumber(text)) return;
  for (let i = 0; i < fonts.length; i += 1) {
    if (fonts[i].font === font) {
      if (outline) fonts[i].outline = outline;
      return;
    }
  }
  const kind = kindOf(font);
  for (let i = 0; i < fonts.length; i += 1) if (fonts[i].kind === kind) return;
  if (fonts.length < MOST_FONTS) fonts[fonts.length] = { font, kind, outline };
};

/** Return all fonts, each with the width of its outline. */
export const numberFonts = () => {
  let text = "";
  for (let i = 0; i < fonts.length; i += 1) {
    text += `${i ? FONT : ""}${fonts[i].font}${FIELD}${fonts[i].outline}`;
  }
  return text;
};

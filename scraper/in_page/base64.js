// Turns bytes into text, for answers to Python.

/** How many bytes become one string at a time; a call takes a limited number of arguments. */
const PIECE = 8192;

/** @param {Uint8Array} bytes */
export const asText = (bytes) => {
  let text = "";
  for (let from = 0; from < bytes.length; from += PIECE) {
    text += String.fromCharCode(...bytes.subarray(from, from + PIECE));
  }
  return btoa(text);
};

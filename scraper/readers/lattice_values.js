// A part of the lattice reader: what elements show, as numbers, names and looks.
// One expression: a function of the parts before that returns its own, by name.
(parts) => {
  const isPower = (value) => value >= 1 && Number.isInteger(Math.log2(value));

  const ownText = (element) => {
    let text = "";
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) text += node.data;
    text = text.trim();
    if (text || element.childElementCount) return text;
    if (element.localName === "input") return element.value.trim();
    for (const pseudo of ["::before", "::after"]) {
      const content = getComputedStyle(element, pseudo).content;
      if (content.startsWith('"') && content.length > 2) return content.slice(1, -1).trim();
    }
    return "";
  };

  // Digits of any script as 0 to 9.
  const ZEROS = [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0xff10];
  const plainDigits = (text) =>
    text.replace(/[^\x00-\x7f]/gu, (sign) => {
      const code = sign.codePointAt(0);
      const zero = ZEROS.find((first) => code >= first && code < first + 10);
      return zero === undefined ? sign : String(code - zero);
    });

  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  // A number as tiles show it: "1024", "1,024", "1 024", "2K", "2^10", "2¹⁰". NaN for anything else.
  const numberIn = (shown) => {
    const text = plainDigits(shown);
    const power = /^2(?:\^|\*\*)(\d{1,2})$/.exec(text) ?? /^2([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})$/.exec(text);
    if (power) return 2 ** Number([...power[1]].map((sign) => (RAISED.includes(sign) ? RAISED.indexOf(sign) : sign)).join(""));
    const thousands = /^(\d{1,3})\s?k$/i.exec(text);
    if (thousands) return Number(thousands[1]) * 1024;
    if (/^\d{1,7}$/.test(text)) return Number(text);
    if (/^\d{1,3}([.,'’\s]\d{3})+$/.test(text)) return Number(text.replace(/\D/g, ""));
    return NaN;
  };

  const fontOf = (element) => parseFloat(getComputedStyle(element).fontSize) || 0;

  // The number on a tile that is written in several pieces: digits apart, or 2 with a raised exponent.
  const pieced = (tile) => {
    const raised = tile.querySelectorAll("sup");
    if (raised.length > 1 || tile.childElementCount === 0) return NaN;
    const digits = plainDigits(tile.textContent).replace(/\s/g, "");
    if (!raised.length) {
      const fonts = [...tile.querySelectorAll("*")].filter(ownText).map(fontOf);
      return /^\d{2,7}$/.test(digits) && Math.min(...fonts) > 0.9 * Math.max(...fonts) ? Number(digits) : NaN;
    }
    const exponent = plainDigits(raised[0].textContent).trim();
    return digits === `2${exponent}` && /^\d{1,2}$/.test(exponent) ? 2 ** Number(exponent) : NaN;
  };

  const tokensOf = (element) => {
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

  const hash = (text) => {
    let a = 0x811c9dc5;
    let b = 5381;
    for (let i = 0; i < text.length; i += 1) {
      a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
      b = (Math.imul(b, 33) + text.charCodeAt(i)) | 0;
    }
    return (a >>> 0).toString(36) + (b >>> 0).toString(36);
  };

  const isClear = (color) => color === "transparent" || /^rgba\(.*,\s*0\)$/.test(color);

  const pictureOf = (canvas) => {
    try {
      return hash(canvas.toDataURL());
    } catch {
      return "canvas"; // with pictures from elsewhere on it
    }
  };

  // With `bare` without the colour of its ground, which may be that of the place.
  const lookOf = (element, bare = false) => {
    const style = getComputedStyle(element);
    const parts = [];
    const text = ownText(element);
    if (text) parts.push(text);
    if (!bare && !isClear(style.backgroundColor)) parts.push(style.backgroundColor);
    if (style.backgroundImage !== "none") parts.push(style.backgroundImage, style.backgroundPosition);
    if (element.localName === "img") parts.push(element.currentSrc || element.src);
    if (element.localName === "canvas") parts.push(pictureOf(element));
    if (style.filter !== "none") parts.push(style.filter);
    if (element.localName === "svg") parts.push(element.innerHTML.replace(/\s(id|data-[\w-]+)="[^"]*"|url\([^)]*\)/g, ""));
    else if (element instanceof SVGElement) parts.push(element.localName, style.fill.replace(/url\([^)]*\)/g, ""), element.getAttribute("d") ?? "", element.getAttribute("href") ?? "");
    return parts.join("|");
  };

  const digitsOf = (element) => {
    if (!element || !element.isConnected) return null;
    let text = "";
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) text += node.data;
    const number = /\d[\d.,'’\s]*/.exec(/\d/.test(text) ? text : element.textContent);
    return number ? number[0].replace(/\D/g, "").slice(0, 16) : null;
  };

  return { isPower, ownText, numberIn, fontOf, pieced, tokensOf, hash, lookOf, digitsOf };
}

// Reads boards that are made of boxes: a grid in row order, a table, tiles laid over a grid or moved about by
// transforms, in the document and in open shadow roots. Nothing is known of the page's names: the board is
// the largest full, evenly spaced rectangle of boxes of one size, and a tile belongs to the cell that holds
// the centre of its box.
//
// This file is one expression: a function of how values are told ("text", "classes" or "looks") that returns
// the function described in page_probe.js. `find` returns {why} where it saw a board that is not one of 2048.
(mode) => {
  const SMALLEST = 20;
  const LARGEST = 400;
  const MAX_SIDE = 8;
  const NOT_BOXES = new Set(["html", "body", "head", "script", "style", "link", "meta", "br", "option", "iframe"]);
  const POSITION_NAME = /(^|[-_])(row|col|column|x|y|r|c|pos|position|index|idx|id|key|cell|i|j|delay|z|w|h|size|grid|span)[-_]?$/i;

  const isPower = (value) => value >= 1 && Number.isInteger(Math.log2(value));
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host ?? null;
  const SEEN = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
  const isVisible = (element) =>
    element.checkVisibility(SEEN) ||
    (getComputedStyle(element).display === "contents" && parentOf(element) !== null && isVisible(parentOf(element)));

  const walk = (root, visit) => {
    if (root.shadowRoot) walk(root.shadowRoot, visit);
    for (const element of root.querySelectorAll("*")) {
      visit(element);
      if (element.shadowRoot) walk(element.shadowRoot, visit);
    }
  };

  const boxOf = (element) => {
    const box = element.getBoundingClientRect();
    return { element, x: box.left + box.width / 2, y: box.top + box.height / 2, w: box.width, h: box.height };
  };

  const holds = (outer, inner) => {
    for (let node = inner; node; node = parentOf(node)) if (node === outer) return true;
    return false;
  };

  const commonAncestor = (elements) => {
    let common = elements[0];
    for (const element of elements) while (common && !holds(common, element)) common = parentOf(common);
    return common;
  };

  // -- values -----------------------------------------------------------------------------------------------

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

  // A number as tiles show it: "1024", "1,024", "1 024", "2K". NaN for anything else.
  const numberIn = (shown) => {
    const text = plainDigits(shown);
    const thousands = /^(\d{1,3})\s?k$/i.exec(text);
    if (thousands) return Number(thousands[1]) * 1024;
    if (/^\d{1,7}$/.test(text)) return Number(text);
    if (/^\d{1,3}([.,'’\s]\d{3})+$/.test(text)) return Number(text.replace(/\D/g, ""));
    return NaN;
  };

  // -- finding lattices ---------------------------------------------------------------------------------------

  const squareBoxes = (least, most) => {
    const boxes = [];
    const whole = document.documentElement;
    walk(whole, (element) => {
      if (NOT_BOXES.has(element.localName)) return;
      const box = boxOf(element);
      if (box.w < SMALLEST || box.h < SMALLEST || box.w > LARGEST || box.h > LARGEST) return;
      const shape = box.w / box.h;
      if (shape < least || shape > most || !isVisible(element)) return;
      boxes.push(box);
    });
    return boxes;
  };

  const groupsBySize = (boxes) => {
    const groups = [];
    for (const box of boxes) {
      const group = groups.find(
        (other) =>
          Math.abs(other.w - box.w) <= Math.max(1.5, 0.04 * other.w) &&
          Math.abs(other.h - box.h) <= Math.max(1.5, 0.04 * other.h),
      );
      if (!group) groups.push({ w: box.w, h: box.h, points: [box] });
      else if (
        group.points.length < 600 &&
        !group.points.some((o) => Math.abs(o.x - box.x) < 0.2 * box.w && Math.abs(o.y - box.y) < 0.2 * box.h)
      )
        group.points.push(box);
    }
    return groups;
  };

  // The largest full rectangle with a box of the group at its top left.
  const rectangleAt = (origin, { w, h, points }) => {
    const at = (x, y) => points.find((p) => Math.abs(p.x - x) < 0.12 * w && Math.abs(p.y - y) < 0.12 * h);
    let px = Infinity;
    let py = Infinity;
    for (const p of points) {
      const dx = p.x - origin.x;
      const dy = p.y - origin.y;
      if (Math.abs(dy) < 0.12 * h && dx > 0.85 * w && dx < px) px = dx;
      if (Math.abs(dx) < 0.12 * w && dy > 0.85 * h && dy < py) py = dy;
    }
    if (px > 1.8 * w || py > 1.8 * h) return null;
    let best = null;
    let width = Infinity;
    const boxes = [];
    for (let row = 0; row < 2 * MAX_SIDE; row += 1) {
      const line = [];
      let box;
      while (line.length < width && line.length < 2 * MAX_SIDE) {
        box = at(origin.x + line.length * px, origin.y + row * py);
        if (!box) break;
        line.push(box);
      }
      width = Math.min(width, line.length);
      if (width < 2) break;
      boxes.push(line);
      if (row > 0 && (!best || (row + 1) * width > best.rows * best.columns)) {
        const used = boxes.map((one) => one.slice(0, width));
        best = { x: origin.x, y: origin.y, px, py, w, h, rows: row + 1, columns: width, boxes: used.flat() };
      }
    }
    return best;
  };

  // Whether boxes of the group lie inside the rectangle, but between its cells: honeycombs do that.
  const isShifted = (lattice, points) =>
    points.some((p) => {
      const column = (p.x - lattice.x) / lattice.px;
      const row = (p.y - lattice.y) / lattice.py;
      if (column < -0.4 || row < -0.4 || column > lattice.columns - 0.6 || row > lattice.rows - 0.6) return false;
      return Math.abs(column - Math.round(column)) > 0.3 || Math.abs(row - Math.round(row)) > 0.3;
    });

  const isHoneycomb = ({ w, h, points }) => {
    if (points.length < 7) return false;
    const shifted = points.filter((p) =>
      points.some((o) => {
        const dx = Math.abs(o.x - p.x) / w;
        const dy = Math.abs(o.y - p.y) / h;
        return (dx > 0.4 && dx < 0.75 && dy > 0.6 && dy < 1.1) || (dy > 0.4 && dy < 0.75 && dx > 0.6 && dx < 1.1);
      }),
    );
    return shifted.length >= 0.8 * points.length;
  };

  const latticesIn = (group) => {
    const found = [];
    let points = group.points;
    for (let round = 0; round < 3 && points.length >= 4; round += 1) {
      let best = null;
      for (const origin of points) {
        const lattice = rectangleAt(origin, { ...group, points });
        if (lattice && (!best || lattice.boxes.length > best.boxes.length)) best = lattice;
      }
      if (!best) break;
      const used = new Set(best.boxes);
      if (best.rows <= MAX_SIDE && best.columns <= MAX_SIDE && !isShifted(best, group.points)) found.push(best);
      points = points.filter((p) => !used.has(p));
    }
    return found;
  };

  // Tiles on a board that draws no cells: the board is the box around them, and its cells divide it evenly.
  const looseLattices = (groups) => {
    const found = [];
    for (const { w, h, points } of groups) {
      const tiles = points.filter((p) => isPower(numberIn((p.element.textContent ?? "").trim())));
      if (!tiles.length || tiles.length > MAX_SIDE * MAX_SIDE) continue;
      let around = parentOf(tiles[0].element);
      for (let depth = 0; around && depth < 4; depth += 1, around = parentOf(around)) {
        const frame = around.getBoundingClientRect();
        const style = getComputedStyle(around);
        const inner = {
          left: frame.left + parseFloat(style.borderLeftWidth),
          top: frame.top + parseFloat(style.borderTopWidth),
          width: around.clientWidth || frame.width,
          height: around.clientHeight || frame.height,
        };
        if (inner.width < 1.9 * w || inner.height < 1.9 * h) continue;
        const across = axis(inner.left, inner.width, w, tiles.map((p) => p.x));
        const down = axis(inner.top, inner.height, h, tiles.map((p) => p.y));
        if (!across || !down) continue;
        found.push({
          x: across.first, y: down.first, px: across.pitch, py: down.pitch, w, h,
          rows: down.count, columns: across.count, boxes: tiles, around,
        });
        break;
      }
    }
    return found;
  };

  const axis = (start, length, side, centres) => {
    for (const model of ["even", "padded"]) {
      const found = axisBy(model, start, length, side, centres);
      if (found) return found;
    }
    return null;
  };

  const axisBy = (model, start, length, side, centres) => {
    for (let count = Math.min(MAX_SIDE, Math.floor(length / side + 0.05)); count >= 2; count -= 1) {
      const spare = length - count * side;
      // Gaps all around, between only, half a gap around; else any padding with any gap.
      let layouts = [[spare / (count + 1), 1], [spare / (count - 1), 0], [spare / count, 0.5]];
      layouts = layouts.map(([gap, share]) => [gap, gap * share]);
      if (model === "padded") {
        layouts = [];
        for (let gap = 0; gap <= 0.3 * side; gap += 0.5) layouts.push([gap, (spare - gap * (count - 1)) / 2]);
      }
      for (const [gap, outer] of layouts) {
        if (gap > 0.35 * side || gap < -0.02 * side || outer < -1 || outer > 0.6 * side) continue;
        const first = start + outer + side / 2;
        const pitch = side + gap;
        const fits = centres.every((c) => {
          const place = (c - first) / pitch;
          return Math.abs(place - Math.round(place)) < 0.06 && place > -0.3 && place < count - 0.7;
        });
        if (fits) return { count, first, pitch };
      }
    }
    return null;
  };

  // -- one board ----------------------------------------------------------------------------------------------

  const makeBoard = (lattice) => {
    const { rows, columns, w, h, px, py } = lattice;
    const inside = (box) =>
      box.x > lattice.x - 0.5 * px && box.y > lattice.y - 0.5 * py &&
      box.x < lattice.x + (columns - 0.5) * px && box.y < lattice.y + (rows - 0.5) * py;
    let scope = lattice.around ?? commonAncestor(lattice.boxes.map((box) => box.element));
    if (!lattice.around) {
      const over = [];
      for (const box of lattice.allBoxes ?? []) {
        if (inside(box) && box.w > 0.5 * w && box.w < 1.3 * w && box.h > 0.5 * h && box.h < 1.3 * h) over.push(box.element);
      }
      if (over.length) scope = commonAncestor([scope, ...over]);
      for (let outer = parentOf(scope); outer && !NOT_BOXES.has(outer.localName); outer = parentOf(outer)) {
        const box = outer.getBoundingClientRect();
        if (box.width > 1.35 * columns * px || box.height > 1.35 * rows * py) break;
        scope = outer;
      }
    }
    const home = scope.getBoundingClientRect();
    return { lattice, scope, home, scale: 1, prefix: null };
  };

  // The cell under a point, and by how much (in cells) the point misses its centre.
  const placeOf = (board, shift, box) => {
    const { lattice } = board;
    const column = (box.x - lattice.x - shift.x) / lattice.px;
    const row = (box.y - lattice.y - shift.y) / lattice.py;
    const c = Math.round(column);
    const r = Math.round(row);
    if (c < 0 || r < 0 || c >= lattice.columns || r >= lattice.rows) return null;
    return { cell: r * lattice.columns + c, off: Math.max(Math.abs(column - c), Math.abs(row - r)) };
  };

  const shiftOf = (board) => {
    const box = board.scope.getBoundingClientRect();
    return { x: box.left - board.home.left, y: box.top - board.home.top };
  };

  // The tile that a text stands on: the first box around it that is about as large as a cell.
  const tileAround = (board, element) => {
    const { w, h, px, py } = board.lattice;
    for (let node = element; node && node !== parentOf(board.scope); node = parentOf(node)) {
      const box = boxOf(node);
      if (box.w > 1.3 * px || box.h > 1.3 * py) return null;
      if (box.w >= 0.5 * w && box.h >= 0.5 * h) return box;
    }
    return null;
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

  const readText = (board, firstLook = false) => {
    const shift = shiftOf(board);
    const count = board.lattice.rows * board.lattice.columns;
    const stacks = Array.from({ length: count }, () => []);
    const odd = [];
    const fonts = new Set();
    const worded = new Map(); // by cell, how large its words are written
    const written = new Map(); // and its numbers
    const whole = new Set(); // tiles whose pieces have been put together
    let moving = false;
    walk(board.scope, (element) => {
      if (NOT_BOXES.has(element.localName)) return;
      const text = ownText(element);
      if (!text || (board.leastFont && fontOf(element) < board.leastFont)) return;
      const own = element.getBoundingClientRect();
      if (own.width > 0 && own.width < 3) return; // for screen readers only
      const box = tileAround(board, element);
      if (!box || !isVisible(element)) return;
      const place = placeOf(board, shift, box);
      if (!place) return;
      if (firstLook) fonts.add(fontOf(element));
      let value = numberIn(text);
      if (Number.isNaN(value)) {
        if (/[\p{L}\p{So}]/u.test(text)) worded.set(place.cell, Math.max(fontOf(element), worded.get(place.cell) ?? 0));
        return;
      }
      if (whole.has(box.element)) return;
      if (box.element !== element) {
        const together = pieced(box.element);
        if (!Number.isNaN(together)) {
          value = together;
          whole.add(box.element);
        }
      }
      if (value === 0) return;
      if (ranked && value <= 17) value = 2 ** value;
      if (firstLook) written.set(place.cell, Math.max(fontOf(element), written.get(place.cell) ?? 0));
      if (!isPower(value)) {
        if (place.off < 0.15 && Math.abs(box.w / board.lattice.w - 1) < 0.2) odd.push(value);
        return;
      }
      if (place.off > 0.2) moving = true;
      stacks[place.cell].push(value);
    });
    const words = [...worded.keys()].filter((cell) => !stacks[cell].length).length;
    const small = [...worded].filter(([cell, size]) => size > (written.get(cell) ?? size)).length;
    return { stacks, odd, words, named: worded.size - words, small, fonts, moving };
  };

  // -- values that are in class names or attributes -------------------------------------------------------------

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

  const cellElements = (board, shift, least, visit) => {
    const { w, h, px, py } = board.lattice;
    walk(board.scope, (element) => {
      if (NOT_BOXES.has(element.localName)) return;
      const box = boxOf(element);
      if (box.w < least * w || box.h < least * h || box.w > 1.3 * px || box.h > 1.3 * py) return;
      const place = placeOf(board, shift, box);
      if (place && isVisible(element)) visit(element, place, box);
    });
  };

  const readTokens = (board, wanted) => {
    const shift = shiftOf(board);
    const byPrefix = new Map();
    let moving = false;
    cellElements(board, shift, 0.5, (element, place) => {
      for (const [prefix, value] of tokensOf(element)) {
        if (wanted !== null && prefix !== wanted) continue;
        if (!byPrefix.has(prefix)) byPrefix.set(prefix, new Map());
        const cells = byPrefix.get(prefix);
        if (!cells.has(place.cell)) cells.set(place.cell, []);
        if (value !== 0) cells.get(place.cell).push(value);
        if (wanted !== null && place.off > 0.2) moving = true;
      }
    });
    return { byPrefix, moving };
  };

  const prefixOf = (board) => {
    const count = board.lattice.rows * board.lattice.columns;
    let best = null;
    for (const [prefix, cells] of readTokens(board, null).byPrefix) {
      const values = [...cells.values()].flat();
      const taken = [...cells.values()].filter((stack) => stack.length).length;
      if (!values.length || taken >= count || POSITION_NAME.test(prefix.replace(/=$/, ""))) continue;
      if (!values.every((value) => value >= 2 && isPower(value))) continue;
      const named = /(tile|val|num|block|field|piece|level|power|^n|^v)/i.test(prefix) ? 100 : 0;
      if (!best || named + taken > best.score) best = { prefix, score: named + taken };
    }
    return best && best.prefix;
  };

  // -- looks ----------------------------------------------------------------------------------------------------

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

  const lookOf = (element) => {
    const style = getComputedStyle(element);
    const parts = [];
    const text = ownText(element);
    if (text) parts.push(text);
    if (!isClear(style.backgroundColor)) parts.push(style.backgroundColor);
    if (style.backgroundImage !== "none") parts.push(style.backgroundImage, style.backgroundPosition);
    if (element.localName === "img") parts.push(element.currentSrc || element.src);
    if (element.localName === "canvas") parts.push(pictureOf(element));
    if (element.localName === "svg") parts.push(element.innerHTML);
    else if (element instanceof SVGElement) parts.push(element.localName, style.fill, element.getAttribute("d") ?? "", element.getAttribute("href") ?? "");
    return parts.join("|");
  };

  const readLooks = (board) => {
    const shift = shiftOf(board);
    const tops = new Map();
    let moving = false;
    cellElements(board, shift, 0.02, (element, place, box) => {
      const outer = tops.get(place.cell);
      const isDetail = box.w < 0.3 * board.lattice.w || box.h < 0.3 * board.lattice.h;
      if (isDetail && !(outer && holds(outer.element, element))) return;
      const look = lookOf(element);
      if (!look) return;
      if (outer && holds(outer.element, element)) {
        outer.look += `>${look}`;
        return;
      }
      const height = Number(getComputedStyle(element).zIndex) || 0;
      if (place.off > 0.2) moving = true;
      if (!outer || height >= outer.height) tops.set(place.cell, { element, look, height });
    });
    const count = board.lattice.rows * board.lattice.columns;
    const looks = Array.from({ length: count }, (_, cell) => (tops.has(cell) ? hash(tops.get(cell).look) : "-"));
    return { looks, moving };
  };

  // -- score ----------------------------------------------------------------------------------------------------

  // The element that shows the score: named so, or standing beside the word.
  const findScore = () => {
    const NAME = /(^|[^a-z])(current[-_]?)?(score|points|punkte|puntos)/i;
    const NOT = /best|high|max|top|record|hi-?score|board|add/i;
    let found = null;
    walk(document.documentElement, (element) => {
      if (found || NOT_BOXES.has(element.localName) || element.childElementCount > 3) return;
      const name = `${element.id} ${element.getAttribute("class") ?? ""}`;
      const text = (element.textContent ?? "").trim();
      if (text.length > 40 || !/\d/.test(text) || NOT.test(name) || NOT.test(text)) return;
      if (!NAME.test(name) && !/^(score|points)\s*:?\s*\d/i.test(text)) return;
      if (isVisible(element)) found = element;
    });
    return found;
  };

  const digitsOf = (element) => {
    if (!element || !element.isConnected) return null;
    let text = "";
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) text += node.data;
    const number = /\d[\d.,'’\s]*/.exec(/\d/.test(text) ? text : element.textContent);
    return number ? number[0].replace(/\D/g, "").slice(0, 16) : null;
  };

  // -- the reader -----------------------------------------------------------------------------------------------

  const animates = (scope) =>
    scope.getAnimations({ subtree: true }).some(
      (animation) =>
        (animation.playState === "running" || animation.pending) &&
        Number.isFinite(animation.effect?.getComputedTiming().endTime),
    );

  let labels = {};
  let ranked = false; // tiles show the powers to which 2 is raised: 1, 2, 3 for 2, 4, 8

  const cellsOf = (board) => {
    if (mode === "text") {
      const seen = (board.structured && readStructure(board)) || readText(board);
      const cells = seen.stacks.map((stack) => (stack.length ? Math.max(...stack) : 0));
      return { cells, moving: seen.moving, odd: seen.odd, sure: seen.stacks.every((stack) => stack.length < 2) };
    }
    const { rows, columns } = board.lattice;
    if (mode === "classes") {
      const seen = readTokens(board, board.prefix);
      const stacks = seen.byPrefix.get(board.prefix) ?? new Map();
      const cells = Array.from({ length: rows * columns }, (_, cell) => Math.max(0, ...(stacks.get(cell) ?? [])));
      return { cells, moving: seen.moving, odd: cells.filter((value) => value && !isPower(value)), sure: false };
    }
    const seen = readLooks(board);
    const unknown = new Map();
    const cells = seen.looks.map((look) => {
      if (look in labels) return labels[look];
      if (!unknown.has(look)) unknown.set(look, -1 - unknown.size);
      return unknown.get(look);
    });
    return { cells, looks: seen.looks, moving: seen.moving, odd: [], sure: false };
  };

  // How much speaks for a lattice: 3 tiles and empty cells, 2 tiles only, 0 nothing.
  const evidenceOf = (board) => {
    const count = board.lattice.rows * board.lattice.columns;
    if (mode === "text") {
      let seen = readText(board, true);
      // Something written small in every cell names the cell.
      const isLabelled = seen.odd.length > 0 || seen.words > 2 || seen.stacks.every((stack) => stack.length);
      const large = Math.max(...seen.fonts);
      if (isLabelled && Math.min(...seen.fonts) < 0.6 * large) {
        board.leastFont = 0.6 * large;
        seen = readText(board, true);
      }
      const { stacks, odd, words, named, small } = seen;
      const tiles = stacks.filter((stack) => stack.length);
      board.odd = odd;
      // Boxes with a word and a number each count something: points, moves, time. Not so on a board that is
      // mostly empty, unless the word is what is written large.
      const isRoomy = count >= 9 && tiles.length <= 0.6 * count && !small;
      if (odd.length || !tiles.length || words > 2 || (2 * named > tiles.length && !isRoomy)) return 0;
      const values = new Set(tiles.map((stack) => Math.max(...stack)));
      if (tiles.length === count) return values.size === count || count < 9 ? 0 : 2;
      return 3;
    }
    if (mode === "classes") {
      board.prefix = prefixOf(board);
      return board.prefix === null ? 0 : 3;
    }
    const { looks } = readLooks(board);
    const counts = new Map();
    for (const look of looks) counts.set(look, (counts.get(look) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return counts.size >= 2 && counts.size <= 4 && most >= 0.5 * count ? 3 : 0;
  };

  // Rows of cells whose sizes follow what is in them: known by their order alone.
  const linesOf = (holder) => {
    let lines = [...holder.children].map((line) => [...line.children]);
    const columns = lines[0]?.length ?? 0;
    if (columns < 2 || lines.length < 2 || lines.some((line) => line.length !== columns)) return lines;
    const corner = boxOf(lines[0][0]);
    const next = boxOf(lines[0][1]);
    if (Math.abs(next.y - corner.y) > Math.abs(next.x - corner.x)) {
      lines = lines[0].map((_, index) => lines.map((line) => line[index])); // columns, each with its cells
    }
    const last = boxOf(lines.at(-1).at(-1));
    if (last.x < corner.x) lines.forEach((line) => line.reverse());
    if (last.y < corner.y) lines.reverse();
    return lines;
  };
  const structuredBoard = () => {
    let best = null;
    walk(document.documentElement, (holder) => {
      const rows = holder.childElementCount;
      if (best || rows < 2 || rows > MAX_SIDE || NOT_BOXES.has(holder.localName)) return;
      const lines = linesOf(holder);
      const columns = lines[0].length;
      if (columns < 2 || columns > MAX_SIDE || lines.some((line) => line.length !== columns)) return;
      const values = lines.flat().map((cell) => {
        const text = (cell.textContent ?? "").trim();
        return text === "" ? 0 : numberIn(text);
      });
      if (!values.every((value) => value === 0 || isPower(value)) || !values.some((v) => v) || values.every((v) => v)) return;
      if (!isVisible(holder)) return;
      const home = holder.getBoundingClientRect();
      const w = home.width / columns;
      const h = home.height / rows;
      const lattice = { rows, columns, w, h, px: w, py: h, x: home.left + w / 2, y: home.top + h / 2, boxes: [] };
      best = { board: { lattice, scope: holder, home, prefix: null, structured: true } };
    });
    return best;
  };

  // Whether a lattice is only some of the cells of such rows: those that happen to be equally large.
  const isPartOf = ({ lattice }, whole) =>
    lattice.boxes.length < whole.lattice.rows * whole.lattice.columns &&
    lattice.boxes.every((box) => holds(whole.scope, box.element));

  const readStructure = (board) => {
    const lines = linesOf(board.scope);
    const { rows, columns } = board.lattice;
    if (lines.length !== rows || lines.some((line) => line.length !== columns)) return null;
    const stacks = lines.flat().map((cell) => {
      const value = numberIn((cell.textContent ?? "").trim());
      return value >= 1 ? [value] : [];
    });
    return { stacks, odd: stacks.flat().filter((value) => !isPower(value)), words: 0, moving: false };
  };

  const skipped = []; // boards that were looked at and are not the one that is played
  const isSame = (other, { rows, columns, x, y, px, py }) =>
    other.rows === rows && other.columns === columns &&
    Math.abs(other.x - x - scrollX) < 0.5 * px && Math.abs(other.y - y - scrollY) < 0.5 * py;

  // Whether another board of the same size lies beside this one.
  const isRivalOf = ({ lattice }, { lattice: other }) =>
    lattice.rows * lattice.columns >= 9 && other.rows === lattice.rows && other.columns === lattice.columns &&
    (Math.abs(other.x - lattice.x) > (lattice.columns - 0.5) * lattice.px ||
      Math.abs(other.y - lattice.y) > (lattice.rows - 0.5) * lattice.py);

  // With `known`, a board that was read before: one of its size is it, even if it shows less evidence by now.
  const choose = (known = null) => {
    let boxes = squareBoxes(0.7, 1.43);
    const groups = groupsBySize(boxes);
    const lattices = groups.flatMap(latticesIn);
    let best = null;
    let why = null;
    const boards = [];
    const consider = (lattice) => {
      if (skipped.some((other) => isSame(other, lattice))) return;
      lattice.allBoxes = boxes;
      const board = makeBoard(lattice);
      let evidence = evidenceOf(board);
      if (known && lattice.rows === known.lattice.rows && lattice.columns === known.lattice.columns) evidence += 4;
      const size = lattice.rows * lattice.columns * (lattice.rows === lattice.columns ? 1.5 : 1);
      if (board.odd?.length && size > 6) {
        why ??= `its tiles show ${[...new Set(board.odd)].slice(0, 4).join(", ")}, not powers of two`;
      }
      if (evidence) boards.push(board);
      if (evidence && (!best || evidence > best.evidence || (evidence === best.evidence && size > best.size))) {
        best = { board, evidence, size };
      }
    };
    lattices.forEach(consider);
    if (!best && !why) {
      boxes = squareBoxes(0.4, 2.5);
      groupsBySize(boxes).flatMap(latticesIn).forEach(consider);
    }
    const ordered = mode === "text" && !why ? structuredBoard() : null;
    if (ordered && (!best || isPartOf(best.board, ordered.board))) best = ordered;
    if (!best && !why && mode === "text") looseLattices(groups).forEach(consider);
    if (!best && groups.some(isHoneycomb)) why = "its cells form a honeycomb, not a square grid";
    if (best) best.board.rivals = boards.some((board) => isRivalOf(best.board, board));
    return { board: best?.board ?? null, why };
  };

  return () => {
    let { board, why } = choose();
    if (!board) return why ? { why } : null;
    let score = findScore();
    let misses = 0;

    const stillThere = () => {
      if (!board.scope.isConnected) return false;
      if (board.structured) return linesOf(board.scope).length === board.lattice.rows;
      const box = board.scope.getBoundingClientRect();
      return Math.abs(box.width - board.home.width) < 2 && Math.abs(box.height - board.home.height) < 2;
    };

    const anew = () => {
      const found = choose(board).board;
      if (!found) return;
      if (board.prefix !== null) found.prefix = board.prefix;
      board = found;
      misses = 0;
    };

    const read = () => {
      if (!stillThere() || misses > 12) anew();
      const { rows, columns } = board.lattice;
      const seen = cellsOf(board);
      if (score && !score.isConnected) score = findScore();
      const animated = animates(board.scope);
      const moving = seen.moving || animated;
      // Nothing to be seen, or tiles between the cells for long: another board has been put up.
      const isAmiss = seen.cells.every((value) => value === 0) || (seen.moving && !animated);
      misses = isAmiss ? misses + 1 : 0;
      return {
        rows, columns, cells: seen.cells, looks: seen.looks ?? null,
        sure: seen.sure && !moving, moving, rivals: board.rivals ?? false, odd: seen.odd.slice(0, 8),
        score: digitsOf(score), best: null, won: false, over: false,
      };
    };

    const region = () => {
      const { lattice } = board;
      const seen = board.scope.getBoundingClientRect();
      const middle = { x: seen.left + seen.width / 2, y: seen.top + seen.height / 2 };
      if (middle.x < 0 || middle.y < 0 || middle.x > innerWidth || middle.y > innerHeight) {
        board.scope.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      }
      const shift = shiftOf(board);
      return {
        x: lattice.x + shift.x - lattice.px / 2, y: lattice.y + shift.y - lattice.py / 2,
        width: lattice.columns * lattice.px, height: lattice.rows * lattice.py,
      };
    };

    const isAlive = () => board.scope.isConnected;
    const skip = () => {
      const { rows, columns, x, y } = board.lattice;
      const shift = shiftOf(board);
      skipped.push({ rows, columns, x: x + shift.x + scrollX, y: y + shift.y + scrollY });
    };
    const unskip = () => skipped.splice(0);
    const roots = () => {
      const found = new Set();
      for (let node = board.scope; node; node = node.getRootNode().host) found.add(node.getRootNode());
      walk(board.scope, (element) => element.shadowRoot && found.add(element.shadowRoot));
      if (board.scope.shadowRoot) found.add(board.scope.shadowRoot);
      return [...found];
    };
    const learn = (known, ranks) => {
      labels = known ?? {};
      ranked = ranks ?? false;
    };
    return { read, region, isAlive, roots, learn, skip, unskip };
  };
}

// A part of the lattice reader: one board, and what lies in its cells.
// One expression: a function of the parts before that returns its own, by name.
(parts) => {
  const { NOT_BOXES, parentOf, isVisible, walk, rectOf, boxOf, holds, commonAncestor, isPower, ownText, numberIn, fontOf, pieced, tokensOf, hash, lookOf } = parts;

  const POSITION_NAME = /(^|[-_])(row|col|column|x|y|r|c|pos|position|index|idx|id|key|cell|i|j|delay|z|w|h|size|grid|span)[-_]?(\d+[-_]?)*$/i;

  // Whether an element is on something that lies over the page: a guide with an example on it is none of the board.
  const isVeiling = (element, scope) => {
    for (let node = element; node && !holds(node, scope); node = parentOf(node)) {
      if (node.matches("dialog, [role=dialog], [aria-modal=true]") || getComputedStyle(node).position === "fixed") return true;
    }
    return false;
  };

  const makeBoard = (lattice) => {
    const { rows, columns, w, h, px, py } = lattice;
    const inside = (box) =>
      box.x > lattice.x - 0.5 * px && box.y > lattice.y - 0.5 * py &&
      box.x < lattice.x + (columns - 0.5) * px && box.y < lattice.y + (rows - 0.5) * py;
    let scope = lattice.around ?? commonAncestor(lattice.boxes.map((box) => box.element));
    if (!lattice.around) {
      const over = [];
      for (const box of lattice.allBoxes ?? []) {
        const fits = box.w > 0.5 * w && box.w < 1.3 * w && box.h > 0.5 * h && box.h < 1.3 * h;
        if (fits && inside(box) && !isVeiling(box.element, scope)) over.push(box.element);
      }
      if (over.length) scope = commonAncestor([scope, ...over]);
      for (let outer = parentOf(scope); outer && !NOT_BOXES.has(outer.localName); outer = parentOf(outer)) {
        const box = rectOf(outer);
        if (box.width > 1.35 * columns * px || box.height > 1.35 * rows * py) break;
        scope = outer;
      }
    }
    const home = rectOf(scope);
    return { lattice, scope, home, scale: 1, prefix: null, dress: null };
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
    const box = rectOf(board.scope);
    return { x: box.left - board.home.left, y: box.top - board.home.top };
  };

  // The tile that a text stands on: the first box around it that is about as large as a cell. In drawings the tile
  // may be drawn beside the text: then it is the cell that the text stands in.
  const tileAround = (board, element) => {
    const { w, h, px, py } = board.lattice;
    for (let node = element; node && node !== parentOf(board.scope); node = parentOf(node)) {
      const box = boxOf(node);
      if (box.w > 1.3 * px || box.h > 1.3 * py) break;
      if (box.w >= 0.5 * w && box.h >= 0.5 * h) return box;
    }
    return element.localName === "text" && element.ownerSVGElement ? { ...boxOf(element), w, h } : null;
  };

  // What stands before and after the number on every tile: "$2", "4 GB", "8k"; null where it is not the same on all.
  const dressOf = (texts) => {
    const parts = texts.map((text) => /^(\D{0,8})(\d{1,7})(\D{0,8})$/.exec(text));
    if (!parts.length || !parts.every((part) => part && isPower(Number(part[2])))) return null;
    const [, before, , after] = parts[0];
    return parts.every((part) => part[1] === before && part[3] === after) ? { before, after } : null;
  };

  const undressed = ({ dress }, text) => {
    if (!dress || !text.startsWith(dress.before) || !text.endsWith(dress.after)) return text;
    return text.slice(dress.before.length, text.length - dress.after.length);
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
    const dressed = []; // texts with more than a number, and how many are nothing else
    let plain = 0;
    let moving = false;
    walk(board.scope, (element) => {
      if (NOT_BOXES.has(element.localName)) return;
      const text = ownText(element);
      if (!text || (board.leastFont && fontOf(element) < board.leastFont)) return;
      const own = rectOf(element);
      if (own.width > 0 && own.width < 3) return; // for screen readers only
      const box = tileAround(board, element);
      if (!box || !isVisible(element)) return;
      const place = placeOf(board, shift, box);
      if (!place) return;
      if (firstLook) fonts.add(fontOf(element));
      let value = numberIn(undressed(board, text));
      if (firstLook && /^\d+$/.test(text)) plain += 1;
      else if (firstLook && /\d/.test(text)) dressed.push(text);
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
      if (board.ranked && value <= 17) value = 2 ** value;
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
    return { stacks, odd, words, named: worded.size - words, small, fonts, moving, dress: plain ? null : dressOf(dressed) };
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

  const readLooks = (board) => {
    const shift = shiftOf(board);
    const tops = new Map();
    let moving = false;
    cellElements(board, shift, 0.02, (element, place, box) => {
      const outer = tops.get(place.cell);
      const isDetail = box.w < 0.3 * board.lattice.w || box.h < 0.3 * board.lattice.h;
      if (isDetail && !(outer && holds(outer.element, element))) return;
      const look = lookOf(element, board.bare);
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

  return { findScore, makeBoard, shiftOf, readText, readTokens, prefixOf, readLooks };
}

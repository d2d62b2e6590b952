// A part of the lattice reader: the boxes of a page, and the lattices that they form.
// One expression: a function of the parts before that returns its own, by name.
(parts) => {
  const { isPower, numberIn } = parts;

  const SMALLEST = 14;
  const LARGEST = 400;
  const MAX_SIDE = 8;
  const NOT_BOXES = new Set(["html", "body", "head", "script", "style", "link", "meta", "br", "option", "iframe"]);

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

  // Boards that are turned or seen aslant are laid out like any other: then boxes are taken as they would stand
  // without what turns them, in the coordinates of the layout.
  let laidFlat = false;
  const layFlat = (on) => {
    laidFlat = on;
  };
  const isTurning = (style) => {
    if (style.rotate !== "none") return true;
    const matrix = style.transform === "none" ? null : new DOMMatrixReadOnly(style.transform);
    return matrix !== null && [matrix.m12, matrix.m21, matrix.m13, matrix.m23, matrix.m14, matrix.m24].some((part) => Math.abs(part) > 1e-4);
  };
  const isTurned = () => {
    let found = false;
    walk(document.documentElement, (element) => {
      if (found || !(element.offsetWidth > 100 && element.offsetHeight > 100)) return;
      found = isTurning(getComputedStyle(element));
    });
    return found;
  };
  const rectOf = (element) => {
    if (!laidFlat || !(element instanceof HTMLElement)) return element.getBoundingClientRect();
    let left = 0;
    let top = 0;
    for (let node = element; node; node = node.offsetParent) {
      const { transform, translate } = getComputedStyle(node);
      left += node.offsetLeft + (node === element ? 0 : node.clientLeft);
      top += node.offsetTop + (node === element ? 0 : node.clientTop);
      if (transform !== "none") {
        const { m41, m42 } = new DOMMatrixReadOnly(transform);
        left += m41;
        top += m42;
      }
      const [x, y] = translate === "none" ? [] : translate.split(" ").map(parseFloat);
      left += x || 0;
      top += y || 0;
    }
    return new DOMRect(left, top, element.offsetWidth, element.offsetHeight);
  };

  const boxOf = (element) => {
    const box = rectOf(element);
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

  // What lies in line with a board and is as large as its cells makes one rectangle with it: scores above, buttons
  // below. Where one kind of boxes alone makes a square of it, that is the board.
  const squareOf = (lattice) => {
    const { rows, columns, boxes } = lattice;
    if (rows === columns || Math.min(rows, columns) < 3) return lattice;
    const holders = [];
    const holderOf = (element) => {
      if (!holders.includes(parentOf(element))) holders.push(parentOf(element));
      return holders.indexOf(parentOf(element));
    };
    const kinds = [
      (element) => element.localName,
      holderOf,
      (element) => `${element.localName} in ${holderOf(element)}`,
      (element) => (parentOf(element) ? holderOf(parentOf(element)) : -1),
    ];
    for (const kindOf of kinds) {
      const parts = new Map();
      boxes.forEach(({ element }, index) => {
        const kind = kindOf(element);
        parts.set(kind, [...(parts.get(kind) ?? []), index]);
      });
      for (const part of parts.values()) {
        const side = Math.sqrt(part.length);
        if (side < 3 || side !== Math.min(rows, columns)) continue;
        const row = Math.floor(part[0] / columns);
        const column = part[0] % columns;
        const isSquare = part.every((index, i) => index === (row + Math.floor(i / side)) * columns + column + (i % side));
        if (!isSquare) continue;
        const [x, y] = [lattice.x + column * lattice.px, lattice.y + row * lattice.py];
        return { ...lattice, rows: side, columns: side, x, y, boxes: part.map((index) => boxes[index]) };
      }
    }
    return lattice;
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
      if (best.rows <= MAX_SIDE && best.columns <= MAX_SIDE && !isShifted(best, group.points)) found.push(squareOf(best));
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
        const frame = rectOf(around);
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

  return { NOT_BOXES, MAX_SIDE, parentOf, isVisible, walk, layFlat, isTurned, rectOf, boxOf, holds, commonAncestor, squareBoxes, groupsBySize, isHoneycomb, latticesIn, looseLattices };
}

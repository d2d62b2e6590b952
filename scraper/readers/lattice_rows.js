// A part of the lattice reader: boards known by the order of their elements or letters alone.
// One expression: a function of the parts before that returns its own, by name.
(parts) => {
  const { NOT_BOXES, MAX_SIDE, isVisible, walk, boxOf, isPower, numberIn } = parts;

  // Rows of cells whose sizes follow what is in them, known by their order: each row an element (with a heading
  // or two above or below), or all cells in one element, told apart by how high they stand.
  const rowsOf = (holder) => {
    let best = [];
    let run = [];
    for (const line of holder.children) {
      const cells = [...line.children];
      if (run.length && run[0].length !== cells.length) run = [];
      if (cells.length > 1) run = [...run, cells];
      if (run.length > best.length) best = run;
    }
    return best;
  };

  const flatRowsOf = (holder) => {
    const rows = [];
    for (const cell of holder.children) {
      const box = boxOf(cell);
      if (!box.w || !box.h) continue;
      const row = rows.find((other) => Math.abs(other.y - box.y) < 0.3 * box.h);
      if (row) row.cells.push({ cell, x: box.x });
      else rows.push({ y: box.y, cells: [{ cell, x: box.x }] });
    }
    rows.sort((a, b) => a.y - b.y);
    return rows.map(({ cells }) => cells.sort((a, b) => a.x - b.x).map(({ cell }) => cell));
  };

  const turned = (lines) => {
    if (lines.length < 2 || lines[0].length < 2) return lines;
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

  const linesOf = (holder, isFlat) => (isFlat ? flatRowsOf(holder) : turned(rowsOf(holder)));

  const boardOf = (holder, isFlat) => {
    const lines = linesOf(holder, isFlat);
    const rows = lines.length;
    const columns = lines[0]?.length ?? 0;
    if (rows < 2 || columns < 2 || rows > MAX_SIDE || columns > MAX_SIDE || (isFlat && rows * columns < 9)) return null;
    if (lines.some((line) => line.length !== columns)) return null;
    const values = lines.flat().map((cell) => {
      const text = (cell.textContent ?? "").trim();
      return text === "" ? 0 : numberIn(text);
    });
    if (!values.every((value) => value === 0 || isPower(value)) || !values.some((v) => v) || values.every((v) => v)) return null;
    const first = boxOf(lines[0][0]);
    const last = boxOf(lines.at(-1).at(-1));
    const [px, py] = [(last.x - first.x) / (columns - 1), (last.y - first.y) / (rows - 1)];
    const lattice = { rows, columns, w: px, h: py, px, py, x: first.x, y: first.y, boxes: [] };
    return { lattice, scope: holder, home: holder.getBoundingClientRect(), prefix: null, structured: true, isFlat };
  };

  const structuredBoard = () => {
    let best = null;
    walk(document.documentElement, (holder) => {
      if (best || holder.childElementCount < 2 || holder.childElementCount > 100 || NOT_BOXES.has(holder.localName)) return;
      const board = boardOf(holder, false) ?? boardOf(holder, true);
      if (board && isVisible(holder)) best = { board };
    });
    return best;
  };

  const readStructure = (board) => {
    const lines = linesOf(board.scope, board.isFlat);
    const { rows, columns } = board.lattice;
    if (lines.length !== rows || lines.some((line) => line.length !== columns)) return null;
    const stacks = lines.flat().map((cell) => {
      const value = numberIn((cell.textContent ?? "").trim());
      return value >= 1 ? [value] : [];
    });
    return { stacks, odd: stacks.flat().filter((value) => !isPower(value)), words: 0, moving: false };
  };

  // The cells of a board that is written as text: between bars, or apart by spaces with a sign for nothing.
  const BAR = /[|│┃║]/;
  const RULER = /^[-+=_─━═┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╰╯|│┃║\s]*([-=_─━═]{2}|─|━|═)[-+=_─━═┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╭╮╰╯|│┃║\s]*$/;
  const NOTHING = /^[.·•_*–—-]*$/;
  const writtenRows = (text) => {
    let rows = [];
    let best = null;
    const close = () => {
      if (rows.length > 1 && rows.length <= MAX_SIDE && (!best || rows.length > best.length)) best = rows;
      rows = [];
    };
    for (const raw of text.split("\n")) {
      const line = raw.trim();
      if (RULER.test(line) || (line === "" && rows.length)) continue;
      const parts = BAR.test(line) ? line.replace(/^[|│┃║]|[|│┃║]$/g, "").split(BAR) : line.split(/\s+/);
      const row = parts.map((part) => (NOTHING.test(part.trim()) ? 0 : numberIn(part.trim())));
      const fits = row.length > 1 && row.length <= MAX_SIDE && row.every((value) => value === 0 || isPower(value));
      if (!fits || (rows.length && rows[0].length !== row.length)) close();
      if (fits) rows.push(row);
    }
    close();
    return best;
  };

  const writtenBoard = () => {
    let best = null;
    walk(document.documentElement, (scope) => {
      if (best || NOT_BOXES.has(scope.localName) || scope.childElementCount > 200 || scope.textContent.length > 2000) return;
      const isLines = getComputedStyle(scope).whiteSpace.startsWith("pre") || scope.querySelector(":scope > br");
      if (!isLines || !isVisible(scope)) return;
      const found = writtenRows(scope.innerText);
      const values = found?.flat() ?? [];
      if (!values.some((value) => value) || values.every((value) => value)) return;
      const home = scope.getBoundingClientRect();
      const [rows, columns] = [found.length, found[0].length];
      const [w, h] = [home.width / columns, home.height / rows];
      const lattice = { rows, columns, w, h, px: w, py: h, x: home.left + w / 2, y: home.top + h / 2, boxes: [] };
      best = { board: { lattice, scope, home, prefix: null, written: true } };
    });
    return best;
  };

  const readWritten = (board) => {
    const rows = writtenRows(board.scope.innerText);
    if (rows?.length !== board.lattice.rows || rows[0].length !== board.lattice.columns) return null;
    return { stacks: rows.flat().map((value) => (value ? [value] : [])), odd: [], words: 0, moving: false };
  };

  return { linesOf, structuredBoard, readStructure, writtenBoard, readWritten };
}

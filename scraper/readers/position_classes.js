// Reads the original 2048 page and its descendants: every tile carries its value and its place in its
// classes, `tile-<value>` and `tile-position-<column>-<row>`, both counted from 1. Where the tiles stand tells
// descendants that count from 0, or the row first.
//
// This file is one expression: a function that looks for such a board in the document and returns a reader,
// or null. What a reader's read() returns is described in page_probe.js.
() => {
  const POSITION = /(?:^|\s)tile-position-(\d{1,2})-(\d{1,2})(?:\s|$)/;
  const VALUE = /(?:^|\s)tile-(\d{1,16})(?:\s|$)/;
  const MAX_SIDE = 8;

  const classesOf = (element) => element.getAttribute("class") ?? "";
  const tileElements = () => document.querySelectorAll('[class*="tile-position-"]');

  const valueOf = (element) => {
    const inClass = VALUE.exec(classesOf(element));
    if (inClass) return Number(inClass[1]);
    const text = element.textContent.trim();
    return /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  };

  // The size: rows of grid cells; else loose grid cells, told apart by where they are; else the positions.
  const sizeFromGrid = () => {
    const rows = [...document.querySelectorAll(".grid-row")]
      .map((row) => row.querySelectorAll(".grid-cell").length)
      .filter((count) => count > 0);
    if (rows.length) {
      return rows.every((count) => count === rows[0]) ? { rows: rows.length, columns: rows[0] } : null;
    }
    const boxes = [...document.querySelectorAll(".grid-cell")].map((cell) => cell.getBoundingClientRect());
    const tops = new Set(boxes.map((box) => Math.round(box.top)));
    const lefts = new Set(boxes.map((box) => Math.round(box.left)));
    return boxes.length && tops.size * lefts.size === boxes.length
      ? { rows: tops.size, columns: lefts.size }
      : null;
  };

  const sizeFromPositions = () => {
    let rows = 4;
    let columns = 4;
    for (const element of tileElements()) {
      const place = placeIn(layout, element);
      if (place) {
        columns = Math.max(columns, place.column + 1);
        rows = Math.max(rows, place.row + 1);
      }
    }
    return { rows, columns };
  };

  const size = () => {
    const found = sizeFromGrid() ?? sizeFromPositions();
    return { rows: Math.min(found.rows, MAX_SIDE + 1), columns: Math.min(found.columns, MAX_SIDE + 1) };
  };

  // The digits of a score: those of its own text, without what floats above it ("+8"); of its whole text if
  // it has none of its own. Thousands may be parted: "1,044".
  const digitsIn = (selector) => {
    const element = document.querySelector(selector);
    if (!element) return null;
    let text = "";
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) text += node.data;
    const number = /\d[\d.,'’\s]*/.exec(/\d/.test(text) ? text : element.textContent);
    return number ? number[0].replace(/\D/g, "").slice(0, 32) : null;
  };

  // Shown, or about to be: the original fades its messages in after a delay, so that opacity 0 under an
  // animation still counts.
  const isShown = (selector) => {
    for (const element of document.querySelectorAll(selector)) {
      if (!element.getClientRects().length) continue;
      const style = getComputedStyle(element);
      if (style.visibility === "hidden") continue;
      if (style.opacity === "0" && element.getAnimations().length === 0) continue;
      return true;
    }
    return false;
  };

  // Several tiles in a cell: the largest is the one that stays. Only one alone, or a merged tile over both
  // tiles it was made of, is beyond doubt: the original's first frame after a key shows tiles at their old
  // places, where one of them can lie in the cell of the spawned tile.
  const isSettledCell = (values) => {
    if (values.length === 1) return true;
    const top = Math.max(...values);
    return values.length === 3 && values.filter((value) => value * 2 === top).length === 2;
  };

  let grid = null;
  let ranked = false; // classes and faces show the powers to which 2 is raised

  const isPower = (value) => value >= 1 && Number.isInteger(Math.log2(value));

  const LAYOUTS = [1, 0].flatMap((base) => [false, true].map((rowFirst) => ({ base, rowFirst })));
  const MOST_LOOKS = 100;
  let layout = LAYOUTS[0];
  let looks = 0;

  const placeIn = ({ base, rowFirst }, element) => {
    const position = POSITION.exec(classesOf(element));
    if (!position) return null;
    const [first, second] = [Number(position[1]) - base, Number(position[2]) - base];
    return rowFirst ? { row: first, column: second } : { row: second, column: first };
  };

  // The rectangle that the cells divide evenly.
  const frameOf = (tiles) => {
    const boxes = [...document.querySelectorAll(".grid-cell")].map((cell) => cell.getBoundingClientRect());
    if (!boxes.length) return tiles[0].parentElement.getBoundingClientRect();
    const left = Math.min(...boxes.map((box) => box.left));
    const top = Math.min(...boxes.map((box) => box.top));
    const right = Math.max(...boxes.map((box) => box.right));
    return new DOMRect(left, top, right - left, Math.max(...boxes.map((box) => box.bottom)) - top);
  };

  // How positions are counted: by the only way in which all tiles stand where their classes say.
  const findLayout = () => {
    const tiles = [...tileElements()].filter((tile) => POSITION.test(classesOf(tile)));
    if (tiles.length < 2) return;
    looks += 1;
    const frame = frameOf(tiles);
    const standsIn = (one) => (tile) => {
      const box = tile.getBoundingClientRect();
      const { row, column } = placeIn(one, tile);
      const x = ((box.left + box.width / 2 - frame.left) / frame.width) * grid.columns - 0.5;
      const y = ((box.top + box.height / 2 - frame.top) / frame.height) * grid.rows - 0.5;
      return Math.abs(x - column) < 0.35 && Math.abs(y - row) < 0.35;
    };
    const fitting = LAYOUTS.filter((one) => tiles.every(standsIn(one)));
    if (fitting.length) [layout] = fitting;
    if (fitting.length === 1) looks = MOST_LOOKS;
  };

  const read = () => {
    if (looks < MOST_LOOKS) findLayout();
    const odd = [];
    const stacks = new Map();
    let outside = false;
    for (const element of tileElements()) {
      const place = placeIn(layout, element);
      if (!place) continue;
      const { row, column } = place;
      if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) {
        outside = true;
        continue;
      }
      const shown = valueOf(element);
      const value = ranked && shown > 0 && shown <= 17 ? 2 ** shown : shown;
      if (value > 0 && !isPower(value)) {
        odd.push(value);
        continue;
      }
      const cell = row * grid.columns + column;
      const stack = stacks.get(cell);
      if (stack) stack.push(value);
      else stacks.set(cell, [value]);
    }
    if (outside) grid = size(); // a larger board has been put up: this reading is in doubt, the next will do
    const cells = new Array(grid.rows * grid.columns).fill(0);
    let sure = !outside;
    for (const [cell, values] of stacks) {
      if (cell >= cells.length) continue;
      cells[cell] = Math.max(...values);
      sure = sure && isSettledCell(values);
    }
    return {
      rows: grid.rows,
      columns: grid.columns,
      cells,
      sure: sure && !odd.length,
      odd: odd.slice(0, 8),
      score: digitsIn(".score-container"),
      best: digitsIn(".best-container"),
      won: isShown(".game-won"),
      over: isShown(".game-over"),
    };
  };

  const tiles = [...tileElements()].filter((element) => POSITION.test(classesOf(element)));
  // Tiles with words alone, or two boards: others read those.
  if (!tiles.length || tiles.some((tile) => Number.isNaN(valueOf(tile)))) return null;
  const boards = [...document.querySelectorAll(".tile-container")].filter((holder) => tiles.some((tile) => holder.contains(tile)));
  if (boards.length > 1) return null;
  grid = size();
  const learn = (_, ranks) => {
    ranked = ranks ?? false;
  };
  const isAlive = () => {
    const now = size();
    return document.querySelector('[class*="tile-position-"]') !== null && now.rows === grid.rows && now.columns === grid.columns;
  };
  return { read, learn, isAlive };
}

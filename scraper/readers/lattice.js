// Reads boards that are made of boxes: a grid in row order, a table, tiles laid over a grid or moved about by
// transforms, in the document and in open shadow roots. Nothing is known of the page's names: the board is
// the largest full, evenly spaced rectangle of boxes of one size, and a tile belongs to the cell that holds
// the centre of its box.
//
// This file is one expression: a function of how values are told ("text", "classes" or "looks") that returns
// the function described in page_probe.js. `find` returns {why} where it saw a board that is not one of 2048.
(parts) => (mode) => {
  const { NOT_BOXES, isVisible, walk, layFlat, isTurned, rectOf, boxOf, holds, squareBoxes, groupsBySize, isHoneycomb, latticesIn, looseLattices } = parts;
  const { isPower, digitsOf, findScore, makeBoard, shiftOf, readText, readTokens, prefixOf, readLooks } = parts;
  const { linesOf, structuredBoard, readStructure, writtenBoard, readWritten } = parts;

  const animates = (scope) =>
    scope.getAnimations({ subtree: true }).some(
      (animation) =>
        (animation.playState === "running" || animation.pending) &&
        Number.isFinite(animation.effect?.getComputedTiming().endTime),
    );

  const AMISS_MS = 1000; // slides that scripts make last less

  let labels = {};
  let ranked = false; // tiles show the powers to which 2 is raised: 1, 2, 3 for 2, 4, 8

  const cellsOf = (board) => {
    if (mode === "text") {
      board.ranked = ranked;
      const ordered = board.written ? readWritten(board) : board.structured && readStructure(board);
      const seen = ordered || readText(board);
      const cells = seen.stacks.map((stack) => (stack.length ? Math.max(...stack) : 0));
      const isPair = (stack) => stack.filter((value) => value === Math.max(...stack)).length > 1;
      return { cells, merging: seen.stacks.some(isPair), moving: seen.moving, odd: seen.odd, sure: seen.stacks.every((stack) => stack.length < 2) };
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
      board.dress = null;
      let seen = readText(board, true);
      if (seen.dress) {
        board.dress = seen.dress;
        seen = readText(board, true);
      }
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
    for (const bare of [false, true]) {
      board.bare = bare;
      const counts = new Map();
      for (const look of readLooks(board).looks) counts.set(look, (counts.get(look) ?? 0) + 1);
      const most = Math.max(...counts.values());
      // Where only the ground is left out does most of a board look alike: what is seen on it tells the tiles.
      if (counts.size >= 2 && counts.size <= 4 && most >= 0.5 * count) return bare ? 2 : 3;
    }
    return 0;
  };

  // Whether a lattice is only some of the cells of such rows: those that happen to be equally large.
  const isPartOf = ({ lattice }, whole) =>
    lattice.boxes.length < whole.lattice.rows * whole.lattice.columns &&
    lattice.boxes.every((box) => holds(whole.scope, box.element));

  const skipped = []; // boards that were looked at and are not the one that is played
  const isSame = (other, { rows, columns, x, y, px, py }) =>
    other.rows === rows && other.columns === columns &&
    Math.abs(other.x - x - scrollX) < 0.5 * px && Math.abs(other.y - y - scrollY) < 0.5 * py;

  const isSkipped = (lattice) => skipped.some((other) => isSame(other, lattice));

  // Whether another board of the same size lies beside this one.
  const isRivalOf = ({ lattice }, { lattice: other }) =>
    lattice.rows * lattice.columns >= 9 && other.rows === lattice.rows && other.columns === lattice.columns &&
    (Math.abs(other.x - lattice.x) > (lattice.columns - 0.5) * lattice.px ||
      Math.abs(other.y - lattice.y) > (lattice.rows - 0.5) * lattice.py);

  // With `known`, a board that was read before: one of its size is it, even if it shows less evidence by now.
  const chooseAmong = (known) => {
    let boxes = squareBoxes(0.7, 1.43);
    const groups = groupsBySize(boxes);
    const lattices = groups.flatMap(latticesIn);
    let best = null;
    let why = null;
    const boards = [];
    const consider = (lattice) => {
      if (isSkipped(lattice)) return;
      lattice.allBoxes = boxes;
      const board = makeBoard(lattice);
      let evidence = evidenceOf(board);
      if (known && lattice.rows === known.lattice.rows && lattice.columns === known.lattice.columns) evidence += 4;
      const size = lattice.rows * lattice.columns * (lattice.rows === lattice.columns ? 1.5 : 1);
      if (board.odd?.length && size > 6 && (lattice.w / lattice.h < 1.43 || lattice.rows === lattice.columns)) {
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
    const ordered = mode === "text" ? structuredBoard() : null;
    if (ordered && !isSkipped(ordered.board.lattice) && (!best || isPartOf(best.board, ordered.board))) best = ordered;
    if (!best && !why && mode === "text") looseLattices(groups).forEach(consider);
    const written = !best && mode === "text" ? writtenBoard() : null;
    if (written && !isSkipped(written.board.lattice)) best = written;
    if (!best && groups.some(isHoneycomb)) why = "its cells form a honeycomb, not a square grid";
    if (best) best.board.rivals = boards.some((board) => isRivalOf(best.board, board));
    return { board: best?.board ?? null, why };
  };

  const choose = (known = null) => {
    layFlat(false);
    const upright = known?.isTurned ? { board: null, why: null } : chooseAmong(known);
    if (upright.board || !isTurned()) return upright;
    layFlat(true);
    const turned = chooseAmong(known);
    if (turned.board) turned.board.isTurned = true;
    return turned.board ? turned : upright;
  };

  return () => {
    let { board, why } = choose();
    if (!board) return why ? { why } : null;
    let score = findScore();
    let amissSince = 0; // when the board began to be not as it should; 0 while it is

    const stillThere = () => {
      if (!board.scope.isConnected) return false;
      if (board.written) return readWritten(board) !== null;
      if (board.structured) return linesOf(board.scope, board.isFlat).length === board.lattice.rows;
      const box = rectOf(board.scope);
      return Math.abs(box.width - board.home.width) < 2 && Math.abs(box.height - board.home.height) < 2;
    };

    // Tiles on their way lie between the cells, and make other lattices with them for as long.
    const keepsCells = () => {
      const { boxes } = board.lattice;
      const shift = shiftOf(board);
      const isInPlace = ({ element, x, y }) => {
        const now = boxOf(element);
        return element.isConnected && Math.abs(now.x - x - shift.x) < 2 && Math.abs(now.y - y - shift.y) < 2;
      };
      return boxes.length > 0 && boxes.every(isInPlace);
    };

    const anew = () => {
      amissSince = 0;
      const found = choose(board).board;
      layFlat(board.isTurned ?? false);
      if (!found) return;
      const { rows, columns } = found.lattice;
      const isOfSize = rows === board.lattice.rows && columns === board.lattice.columns;
      if (!isOfSize && stillThere() && keepsCells()) return;
      if (board.prefix !== null) found.prefix = board.prefix;
      board = found;
      layFlat(board.isTurned ?? false);
    };

    const read = () => {
      layFlat(board.isTurned ?? false);
      if (!stillThere() || (amissSince && performance.now() - amissSince > AMISS_MS)) anew();
      const { rows, columns } = board.lattice;
      const seen = cellsOf(board);
      if (score && !score.isConnected) score = findScore();
      const animated = animates(board.scope);
      const moving = seen.moving || animated;
      // Nothing to be seen, or tiles between the cells for long: another board has been put up.
      const isAmiss = seen.cells.every((value) => value === 0) || (seen.moving && !animated);
      amissSince = isAmiss ? amissSince || performance.now() : 0;
      return {
        rows, columns, cells: seen.cells, looks: seen.looks ?? null,
        sure: seen.sure && !moving, moving, merging: seen.merging ?? false, rivals: board.rivals ?? false, odd: seen.odd.slice(0, 8),
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
      if (board.isTurned) return board.scope.getBoundingClientRect().toJSON();
      layFlat(false);
      const shift = shiftOf(board);
      return {
        x: lattice.x + shift.x - lattice.px / 2, y: lattice.y + shift.y - lattice.py / 2,
        width: lattice.columns * lattice.px, height: lattice.rows * lattice.py,
      };
    };

    const isAlive = () => board.scope.isConnected;
    const skip = () => {
      const { rows, columns, x, y } = board.lattice;
      layFlat(board.isTurned ?? false);
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

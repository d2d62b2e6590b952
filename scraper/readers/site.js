// Reads the board that a site profile (docs/pages.md) describes. One expression: a function of the profile's
// [board] table that returns the function described in page_probe.js.
(profile) => {
  const pattern = profile.pattern ? new RegExp(profile.pattern) : /(\d+)/;
  const valueOf = (tile) => {
    const source =
      profile.value === "text" ? tile.textContent :
      profile.value === "class" ? tile.getAttribute("class") : tile.getAttribute(profile.value);
    const found = pattern.exec((source ?? "").trim());
    if (!found) return 0;
    const number = Number((found[1] ?? found[0]).replace(/[\s.,]/g, ""));
    return profile.ranks ? (number ? 2 ** number : 0) : number;
  };
  return () => {
    const board = document.querySelector(profile.selector);
    if (!board) return null;
    const { rows, columns } = profile;
    const read = () => {
      const area = board.getBoundingClientRect();
      const stacks = Array.from({ length: rows * columns }, () => []);
      let moving = false;
      for (const tile of board.querySelectorAll(profile.tile)) {
        if (!tile.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        const value = valueOf(tile);
        if (!value) continue;
        const box = tile.getBoundingClientRect();
        const column = ((box.left + box.width / 2 - area.left) / area.width) * columns - 0.5;
        const row = ((box.top + box.height / 2 - area.top) / area.height) * rows - 0.5;
        const c = Math.round(column);
        const r = Math.round(row);
        if (c < 0 || r < 0 || c >= columns || r >= rows) continue;
        if (Math.abs(column - c) > 0.25 || Math.abs(row - r) > 0.25) moving = true;
        stacks[r * columns + c].push(value);
      }
      const score = profile.score ? document.querySelector(profile.score)?.textContent.replace(/\D/g, "") : null;
      return {
        rows, columns, cells: stacks.map((stack) => Math.max(0, ...stack)), moving,
        sure: !moving && stacks.every((stack) => stack.length < 2),
        score: score ? score.slice(0, 16) : null, best: null, won: false, over: false,
      };
    };
    const region = () => {
      const { left, top, width, height } = board.getBoundingClientRect();
      return { x: left, y: top, width, height };
    };
    return { read, region, isAlive: () => board.isConnected };
  };
}

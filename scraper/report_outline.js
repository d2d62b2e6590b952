// For reports: the groups of equal boxes on the page, and the elements within the board, if it is known.
(region) => {
  const groups = new Map();
  const outline = [];
  const look = (root, depth) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) look(element.shadowRoot, depth + 1);
      const { left, top, width, height } = element.getBoundingClientRect();
      if (width < 10 || height < 10) continue;
      if (width >= 20 && width <= 400 && width / height > 0.5 && width / height < 2) {
        const key = `${Math.round(width)}x${Math.round(height)}`;
        const group = groups.get(key) ?? { size: key, count: 0, lefts: new Set(), tops: new Set() };
        group.count += 1;
        group.lefts.add(Math.round(left));
        group.tops.add(Math.round(top));
        groups.set(key, group);
      }
      if (!region || outline.length >= 400) continue;
      const [x, y, w, h] = region;
      if (left < x - 2 || top < y - 2 || left + width > x + w + 2 || top + height > y + h + 2) continue;
      let text = "";
      for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) text += node.data;
      outline.push({
        tag: element.localName, class: (element.getAttribute("class") ?? "").slice(0, 80), shadow: depth,
        box: [left, top, width, height].map(Math.round), text: text.trim().slice(0, 12),
      });
    }
  };
  look(document, 0);
  const candidates = [...groups.values()]
    .filter((group) => group.count >= 4)
    .sort((a, b) => b.count - a.count)
    .slice(0, 8)
    .map((group) => ({ ...group, lefts: [...group.lefts].slice(0, 12), tops: [...group.tops].slice(0, 12) }));
  return { candidates, outline };
}

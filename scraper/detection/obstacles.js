// Finds what stands between a player and the game: buttons that start it, close a message, accept a banner.
//
// One expression: a function that returns the centres of the visible things to click that say what is wanted,
// those that say the least first, in the frame's coordinates. `taboo` words are never clicked, nor what leads to
// another site, or from the page unless `leave`; with `modal` only what lies over the page.
({ pattern, taboo, taken, modal, leave }) => {
  const MODAL = "dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true]";
  const isVeil = (element) => {
    const style = getComputedStyle(element);
    if (style.position !== "fixed" && style.position !== "absolute") return false;
    if (/^rgba\(.*,\s*0\)$/.test(style.backgroundColor) && style.backdropFilter === "none") return false;
    const box = element.getBoundingClientRect();
    if (Math.min(box.width, box.height) < 100) return false;
    const below = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return below.some((other) => !element.contains(other) && !other.contains(element));
  };
  const liesOver = (element) => {
    if (element.closest(MODAL)) return true;
    for (let node = element; node; node = node.parentElement) if (isVeil(node)) return true;
    return false;
  };
  const wanted = new RegExp(pattern, "iu");
  const never = new RegExp(taboo, "iu");
  const found = [];
  const isHere = (element) => {
    const link = element.closest("a[href]");
    if (leave && link?.origin === location.origin && !link.target) return true;
    return !link || /^(#|javascript:)/i.test(link.getAttribute("href") ?? "") || link.href.split("#")[0] === location.href.split("#")[0];
  };
  const look = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) look(element.shadowRoot);
      if (element.childElementCount > 4) continue;
      const isButton = element.matches("button, a, [role=button], input[type=button], input[type=submit], [onclick], label, summary");
      const names = `${element.id} ${element.getAttribute("class") ?? ""}`;
      const icon = !element.innerText && /(^|[-_ ])(close|dismiss)([-_ ]|$)/i.test(names) ? "close" : "";
      const text = (element.value || element.innerText || element.getAttribute("aria-label") || element.title || icon).trim();
      if (!text || text.length > 40 || !wanted.test(text) || never.test(text)) continue;
      if (!isButton && !/\bto (start|play|begin|continue)\b/i.test(text) && getComputedStyle(element).cursor !== "pointer" && !element.onclick) continue;
      if (modal && !(isButton && liesOver(element))) continue;
      if (element.disabled || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      if (!isHere(element)) continue;
      const box = element.getBoundingClientRect();
      if (box.width < 5 || box.height < 5) continue;
      const x = box.left + box.width / 2;
      const y = box.top + box.height / 2;
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) element.scrollIntoView({ block: "center" });
      const now = element.getBoundingClientRect();
      const key = `${text}@${element.localName}`;
      if (taken.includes(key)) continue;
      found.push({ key, text, x: now.left + now.width / 2, y: now.top + now.height / 2, inner: element.childElementCount });
    }
  };
  look(document);
  found.sort((a, b) => a.text.length - b.text.length);
  return found.slice(0, 8);
}

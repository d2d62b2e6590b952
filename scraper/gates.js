// Finds what stands between a player and the game: buttons that start it, close a message, accept a banner.
//
// One expression: a function of {words, area} that returns the centres of the visible things to click that say
// one of these words, those that say the least first, in the frame's coordinates. `taboo` words are never
// clicked, and nothing that leads away from the page.
({ pattern, taboo, taken, modal }) => {
  const MODAL = "dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true]";
  const wanted = new RegExp(pattern, "iu");
  const never = new RegExp(taboo, "iu");
  const found = [];
  const isHere = (element) => {
    const link = element.closest("a[href]");
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
      if (modal && !(isButton && element.closest(MODAL))) continue;
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

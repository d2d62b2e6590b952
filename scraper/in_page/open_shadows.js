// Runs in the page's own world before its scripts. It opens closed shadow roots, so that boards in them can be read.

const attach = Element.prototype.attachShadow;

/** @this {Element} */
Element.prototype.attachShadow = function attachShadow(options) {
  return attach.call(this, { ...options, mode: "open" });
};

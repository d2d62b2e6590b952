// Helpers for all modules: visit the elements of a page, also those in shadow roots.

/** Elements that are never tiles, cells or boards. */
export const NOT_BOXES = new Set([
  "html",
  "body",
  "head",
  "script",
  "style",
  "link",
  "meta",
  "br",
  "option",
  "iframe",
]);

/**
 * Visit all elements below a root in document order, also in open shadow roots; stop when `visit` returns true.
 *
 * @param {Document | ShadowRoot | Element} root where to begin; the root itself is not visited
 * @param {(element: Element) => boolean | void} visit
 * @returns {boolean} whether `visit` stopped the walk
 */
export const walk = (root, visit) => {
  if (root instanceof Element && root.shadowRoot && walk(root.shadowRoot, visit)) return true;
  for (const element of root.querySelectorAll("*")) {
    if (visit(element) === true) return true;
    if (element.shadowRoot && walk(element.shadowRoot, visit)) return true;
  }
  return false;
};

/**
 * Return the first element of the page that meets a condition, shadow roots included.
 *
 * @param {(element: Element) => boolean} holds
 * @returns {Element | null}
 */
export const firstElement = (holds) => {
  /** @type {Element | null} */
  let found = null;
  walk(document, (element) => {
    if (!holds(element)) return false;
    found = element;
    return true;
  });
  return found;
};

/**
 * Return the parent of an element; the parent of a shadow root is its host.
 *
 * @param {Element} element
 * @returns {Element | null}
 */
export const parentOf = (element) => {
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
};

/**
 * Return whether an element is another one, or one of its descendants.
 *
 * @param {Element} outer
 * @param {Element} inner
 */
export const contains = (outer, inner) => {
  for (let node = /** @type {Element | null} */ (inner); node; node = parentOf(node)) {
    if (node === outer) return true;
  }
  return false;
};

/**
 * Return the smallest element that contains all of these elements.
 *
 * @param {Element[]} elements at least one
 * @returns {Element}
 */
export const commonAncestor = (elements) => {
  let common = elements[0];
  for (const element of elements) {
    while (!contains(common, element)) common = parentOf(common) ?? document.documentElement;
  }
  return common;
};

const SEEN = { opacityProperty: true, visibilityProperty: true };

/**
 * Return whether an element is displayed, visible and not transparent.
 *
 * @param {Element} element
 */
export const isShown = (element) => element.checkVisibility(SEEN);

/**
 * Return the text of an element's own text nodes, without the text of its children.
 *
 * @param {Element} element
 */
export const directText = (element) => {
  let text = "";
  for (const node of element.childNodes) if (node instanceof Text) text += node.data;
  return text;
};

/**
 * Return the digits of the number that an element shows. Its own text comes first, so that floating texts ("+8") do
 * not count; then its whole text. Thousands may be separated: "1,044".
 *
 * @param {Element | null} element
 * @param {number} most the most digits to return
 * @returns {string | null}
 */
export const digitsOf = (element, most) => {
  if (!element?.isConnected) return null;
  const text = directText(element);
  const number = /\d[\d.,'’\s]*/.exec(/\d/.test(text) ? text : (element.textContent ?? ""));
  return number ? number[0].replace(/\D/g, "").slice(0, most) : null;
};

/**
 * Return the id and the classes of an element as one text.
 *
 * @param {Element} element
 */
export const namesOf = (element) => `${element.id} ${classesOf(element)}`;

/**
 * Return the class attribute. For SVG elements the property `className` is not a string.
 *
 * @param {Element} element
 */
export const classesOf = (element) => element.getAttribute("class") ?? "";

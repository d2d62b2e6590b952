// Breaks parts of the language and of the browser for everyone but the page itself, as its address says:
// ?break=json,layout. The page calls `own(act)` around all that it does.
"use strict";

const { own, breakParts } = (() => {
  const { apply, ownKeys } = Reflect;
  let isOwn = 0;

  const own = (act) => {
    isOwn += 1;
    try {
      return act();
    } finally {
      isOwn -= 1;
    }
  };

  /** Replace functions by ones that fail for others. */
  const breakThese = (owner, names, instead) => {
    for (const name of names) {
      const { value, get } = Object.getOwnPropertyDescriptor(owner, name) ?? {};
      const native = value ?? get;
      const broken = function (...args) {
        return isOwn ? apply(native, this, args) : instead(this, ...args);
      };
      const changed = get ? { get: broken } : { value: broken, writable: true };
      Object.defineProperty(owner, name, { ...changed, configurable: true });
    }
  };
  const fails = () => {
    throw new Error("the page has broken this");
  };
  const breakClass = (name) => {
    window[name] = class {
      constructor() {
        fails();
      }
    };
  };

  const parts = {
    tojson: () => {
      for (const { prototype } of [Array, Object, String, Number]) prototype.toJSON = () => "nothing";
    },
    json: () => breakThese(JSON, ["parse", "stringify"], () => "nothing"),
    collections: () => {
      const methods = ["get", "has", "forEach", "entries", "keys", "values"];
      for (const { prototype } of [Map, Set, WeakMap]) {
        breakThese(
          prototype,
          methods.filter((name) => ownKeys(prototype).includes(name)),
          () => undefined,
        );
      }
      for (const name of ["Map", "Set", "WeakMap", "WeakRef"]) breakClass(name);
    },
    arrays: () => {
      const names = [
        "map",
        "filter",
        "some",
        "every",
        "includes",
        "join",
        "push",
        "flat",
        "flatMap",
        "slice",
      ];
      breakThese(Array.prototype, [...names, "find", "sort", "forEach", Symbol.iterator], () => []);
      breakThese(Array, ["from", "isArray", "of"], () => []);
    },
    objects: () => {
      breakThese(Object, ["keys", "entries", "assign", "hasOwn", "fromEntries", "freeze"], () => []);
      Object.prototype.extend = () => {};
    },
    promises: () => {
      breakThese(Promise.prototype, ["then"], () => undefined);
      breakClass("Promise");
    },
    clocks: () => {
      breakThese(window, ["setTimeout", "clearTimeout", "requestAnimationFrame", "queueMicrotask"], () => 0);
      breakThese(Performance.prototype, ["now"], () => 0);
      breakThese(Date, ["now"], () => 0);
    },
    layout: () => {
      breakThese(Element.prototype, ["getBoundingClientRect"], () => new DOMRect(0, 0, 10, 10));
      breakThese(Element.prototype, ["checkVisibility", "matches", "closest"], () => false);
      breakThese(window, ["getComputedStyle"], () => ({}));
    },
    elements: () => {
      for (const { prototype } of [Document, Element, DocumentFragment]) {
        breakThese(prototype, ["querySelector", "querySelectorAll"], () => []);
      }
      breakThese(Node.prototype, ["childNodes", "textContent", "isConnected", "getRootNode"], () => null);
      breakThese(Element.prototype, ["getAttribute", "classList", "shadowRoot", "children"], () => null);
    },
    observers: () => {
      breakThese(MutationObserver.prototype, ["observe", "disconnect", "takeRecords"], fails);
      breakClass("MutationObserver");
    },
    events: () => {
      breakThese(EventTarget.prototype, ["addEventListener", "dispatchEvent"], () => undefined);
      breakThese(Event.prototype, ["type", "target"], () => null);
    },
    texts: () => {
      breakThese(RegExp.prototype, ["exec", "test", Symbol.match, Symbol.replace, Symbol.split], () => null);
      breakThese(String.prototype, ["trim", "replace", "split", "slice", "match", "includes"], () => "");
      breakThese(Number, ["isNaN", "isInteger", "isFinite", "parseFloat"], () => false);
      breakThese(Math, ["max", "min", "round", "abs", "log2", "floor"], () => 0);
    },
  };

  const breakParts = (names) => {
    for (const name of names.includes("all") ? Object.keys(parts) : names) own(parts[name]);
  };
  return { own, breakParts };
})();

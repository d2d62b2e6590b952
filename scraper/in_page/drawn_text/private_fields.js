// Stores values in private fields of objects, where a page can neither see nor break them.

/** A class whose constructor returns its argument, so that a subclass can add private fields to that object. */
class Given {
  /** @param {object} object */
  constructor(object) {
    // biome-ignore lint/correctness/noConstructorReturn: that is what it is for
    return object;
  }
}

/** A value in a private field of an object, where the page can neither see nor break it. */
export class Kept extends Given {
  /** @type {any} */
  #value = undefined;

  /**
   * @param {any} object
   * @returns {any}
   */
  static of(object) {
    return #value in object ? object.#value : undefined;
  }

  /**
   * @param {any} object
   * @param {any} value
   */
  static set(object, value) {
    if (!(#value in object)) new Kept(object);
    /** @type {any} */ (object).#value = value;
  }
}

/** The same for wrappers: the private field holds the wrapped function. */
export class Masked extends Given {
  /** @type {any} */
  #native = undefined;

  /**
   * @param {any} wrapper
   * @param {any} native
   */
  static set(wrapper, native) {
    new Masked(wrapper);
    /** @type {any} */ (wrapper).#native = native;
  }

  /**
   * @param {any} thing
   * @returns {any} the wrapped function, or the thing itself
   */
  static unmasked(thing) {
    return typeof thing === "function" && #native in thing ? thing.#native : thing;
  }
}

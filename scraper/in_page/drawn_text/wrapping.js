// Wraps methods of the browser so that a page sees no difference: names, lengths, `toString` and the order of
// properties stay as they are. A page can change everything that it can reach, so this module only calls functions
// that it stored before the page's scripts ran.

import { Masked } from "./private_fields.js";

const { apply } = Reflect;
const { defineProperty, getOwnPropertyDescriptor: descriptorOf } = Object;

/**
 * Return a getter of the browser as a function that no page can change.
 *
 * @param {object} prototype
 * @param {string} name
 * @returns {(owner: object) => any}
 */
export const getter = (prototype, name) => {
  const get = descriptorOf(prototype, name)?.get;
  return (owner) => (get ? apply(get, owner, []) : undefined);
};

/**
 * Replace a method by a wrapper, which calls `after` with owner, arguments and result after the method.
 *
 * @param {any} prototype
 * @param {string} name
 * @param {(owner: any, values: any[], result: any) => void} after
 */
export const wrap = (prototype, name, after) => {
  const descriptor = descriptorOf(prototype, name);
  if (!descriptor) return;
  const part = descriptor.set ? "set" : "value";
  const native = descriptor[part];
  const wrapper = new Proxy(native, {
    // @ts-expect-error: without a prototype, so that no page can add traps
    __proto__: null,
    apply(target, owner, values) {
      const result = apply(target, owner, values);
      try {
        after(owner, values, result);
      } catch {
        // An error of our code must not reach the page.
      }
      return result;
    },
  });
  Masked.set(wrapper, native);
  descriptor[part] = wrapper;
  defineProperty(prototype, name, descriptor);
};

/** Make `toString` return the same text for our wrappers as for the browser's functions. */
export const maskText = () => {
  const native = Function.prototype.toString;
  const wrapper = new Proxy(native, {
    // @ts-expect-error: as above
    __proto__: null,
    apply: (target, owner, values) => apply(target, Masked.unmasked(owner), values),
  });
  Masked.set(wrapper, native);
  const descriptor = /** @type {PropertyDescriptor} */ (descriptorOf(Function.prototype, "toString"));
  descriptor.value = wrapper;
  defineProperty(Function.prototype, "toString", descriptor);
};

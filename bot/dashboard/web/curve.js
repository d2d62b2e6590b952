// The curves of a game over its plies, with a cursor: SVG that is drawn once, and a line that moves.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000;
const HEIGHT = 160;

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 */
function svg(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export class Curve {
  element = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  #cursor = svg("line", {
    y1: "0",
    y2: String(HEIGHT),
    class: "cursor",
    "vector-effect": "non-scaling-stroke",
  });
  /** @type {Map<string, SVGElement>} */
  #lines = new Map();
  #plies = 1;

  /** @param {(ply: number) => void} jump called with the ply that was clicked */
  constructor(jump) {
    this.element.classList.add("curve");
    this.element.append(this.#cursor);
    this.element.addEventListener("click", (/** @type {any} */ event) => {
      const box = this.element.getBoundingClientRect();
      const share = (event.clientX - box.left) / box.width;
      jump(Math.round(share * this.#plies));
    });
  }

  /** @param {number} plies */
  setLength(plies) {
    this.#plies = Math.max(plies, 1);
  }

  /**
   * Draw a series over the whole height.
   * @param {string} name its class
   * @param {number[]} plies
   * @param {number[]} values
   */
  draw(name, plies, values) {
    this.#lines.get(name)?.remove();
    if (!values.length) return;
    let low = Math.min(0, values[0]);
    let high = Math.max(0, values[0]);
    for (const value of values) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const points = values.map((value, index) => {
      const x = (plies[index] / this.#plies) * WIDTH;
      const y = HEIGHT - 2 - ((value - low) / (high - low || 1)) * (HEIGHT - 4);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    const line = svg("polyline", {
      points: points.join(" "),
      class: name,
      "vector-effect": "non-scaling-stroke",
    });
    this.#lines.set(name, line);
    this.element.insertBefore(line, this.#cursor);
  }

  /** @param {number} ply */
  point(ply) {
    const x = String((ply / this.#plies) * WIDTH);
    this.#cursor.setAttribute("x1", x);
    this.#cursor.setAttribute("x2", x);
  }
}

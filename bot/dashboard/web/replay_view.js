// The controls of a replay: made once, without any knowledge of games.

export const DIRECTIONS = ["up", "right", "down", "left"];
export const NAMES = DIRECTIONS;
const SPEEDS = [1, 2, 4, 8, 12, 25, 50, 100, 200, 500];
const SIGNS = ["↑", "→", "↓", "←"];

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Partial<HTMLElementTagNameMap[K]>} [properties]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

/**
 * @param {string} sign
 * @param {string} label
 * @param {string} keys
 */
function button(sign, label, keys) {
  const element = make("button", { type: "button", title: `${label} (${keys})` }, sign);
  element.setAttribute("aria-label", label);
  element.setAttribute("aria-keyshortcuts", keys);
  return element;
}

const formatter = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** @param {number | null | undefined} value */
const shown = (value) => (value === null || value === undefined ? "–" : formatter.format(value));

/**
 * @param {HTMLElement} board
 * @param {SVGElement} curve
 */
export function makeView(board, curve) {
  const first = button("|◀", "First board", "Home");
  const back = button("◀", "One move back", "ArrowLeft");
  const play = button("▶", "Play", "Space");
  const next = button("▷", "One move on", "ArrowRight");
  const last = button("▶|", "Last board", "End");
  const speed = make(
    "select",
    {},
    ...SPEEDS.map((each) => make("option", { value: String(each) }, `${each}`)),
  );
  speed.value = "4";
  const seek = make("input", { type: "range", min: "0", value: "0" });
  seek.setAttribute("aria-label", "Ply");
  const jump = make("input", { type: "number", min: "0", value: "0" });
  const engine = make("select");
  const depth = make("input", { type: "number", min: "1", max: "12", placeholder: "own" });
  const ply = make("strong", {}, "0");
  const total = make("span", {}, "0");
  const score = make("strong", {}, "0");
  const made = make("strong", {}, "–");
  const answered = make("p", { className: "answered" });
  const said = make("p", { className: "fault" });
  said.setAttribute("role", "status");
  const body = make("tbody");
  const rows = DIRECTIONS.map((name, index) => {
    const cells = [make("td"), make("td"), make("td")];
    const row = make("tr", {}, make("th", { scope: "row" }, `${SIGNS[index]} ${name}`), ...cells);
    body.append(row);
    return { row, cells };
  });
  const head = ["Direction", "Value", "V (afterstate)", "Recorded"];
  const table = make(
    "table",
    { className: "values" },
    make("caption", {}, "What the engine thinks of the four directions"),
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
    body,
  );
  const legend = make("p", { className: "legend" });
  const keys = make(
    "p",
    { className: "keys" },
    "Keys: ← → one move, Page Up and Page Down 100, Home, End, Space plays, + and − change the speed.",
  );
  const root = make(
    "div",
    { className: "replay" },
    make(
      "div",
      { className: "left" },
      board,
      make("div", { className: "controls" }, first, back, play, next, last),
      make("label", {}, "Moves a second ", speed),
    ),
    make(
      "div",
      { className: "right" },
      make(
        "p",
        { className: "standing" },
        "Ply ",
        ply,
        " of ",
        total,
        " · score ",
        score,
        " · move made: ",
        made,
      ),
      table,
      answered,
      make("p", {}, make("label", {}, "Engine ", engine), " ", make("label", {}, "Depth ", depth)),
      make("label", {}, "Go to ply ", jump),
      said,
      keys,
    ),
    make("div", { className: "below" }, legend, curve, seek),
  );
  return {
    root,
    first,
    back,
    play,
    next,
    last,
    seek,
    jump,
    engine,
    depth,
    said,
    perSecond: () => Number(speed.value),
    /** @param {number} by */
    changeSpeed(by) {
      const at = SPEEDS.indexOf(Number(speed.value)) + by;
      speed.value = String(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))]);
    },
    /** @param {boolean} playing */
    showPlaying(playing) {
      play.textContent = playing ? "▮▮" : "▶";
      play.setAttribute("aria-label", playing ? "Pause" : "Play");
    },
    /** @param {number} plies */
    setLength(plies) {
      seek.max = jump.max = String(plies);
      total.textContent = formatter.format(plies);
    },
    /** @param {number} at */
    setPly(at) {
      ply.textContent = formatter.format(at);
      seek.value = jump.value = String(at);
    },
    /** @param {number} points */
    setScore(points) {
      score.textContent = formatter.format(points);
    },
    /** @param {string} text */
    setMade(text) {
      made.textContent = text;
    },
    /**
     * @param {{value: string, text: string}[]} choices
     * @param {string} chosen
     */
    setEngines(choices, chosen) {
      engine.replaceChildren(...choices.map(({ value, text }) => make("option", { value }, text)));
      engine.value = chosen;
    },
    /** @param {boolean} recorded */
    showLegend(recorded) {
      const parts = [make("span", { className: "key score" }, "score")];
      if (recorded) parts.push(make("span", { className: "key recorded" }, "recorded value"));
      parts.push(
        make(
          "span",
          { className: "key value" },
          "V of the best afterstate, or the engine's own value; each curve has its own height",
        ),
      );
      legend.replaceChildren(...parts);
    },
    /**
     * @param {import("./pieces.js").Opinion | null | undefined} opinion
     * @param {number | null} chosen index of the move made
     * @param {(number | null)[] | null} recorded
     */
    showOpinion(opinion, chosen, recorded) {
      for (const [index, { row, cells }] of rows.entries()) {
        const name = DIRECTIONS[index];
        row.classList.toggle("made", index === chosen);
        row.classList.toggle("best", opinion?.direction === name);
        cells[0].textContent = shown(opinion?.values[name]);
        cells[1].textContent = shown(opinion?.afterstates[name]);
        cells[2].textContent = shown(recorded?.[index]);
      }
      answered.textContent = opinion
        ? `${opinion.engine}, depth ${opinion.depth}: ${opinion.direction}, ${opinion.elapsedMs.toFixed(2)} ms` +
          `, ${formatter.format(opinion.nodes)} positions${opinion.inPoints ? ", values in points" : ""}`
        : " ";
    },
  };
}

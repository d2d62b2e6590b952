// <game-replay>: one recorded game, ply by ply, with what an engine thinks of each board.

import { BoardView } from "./board.js";
import { Curve } from "./curve.js";
import { fetchJson, Pieces } from "./pieces.js";
import { DIRECTIONS, makeView, NAMES } from "./replay_view.js";

const CURVE_SAMPLES = 200;
const BATCH = 20;
const REST_MS = 80;
const SHOWN_SPEED = 12; // plies a second up to which tiles slide
const FAR = 100;

class GameReplay extends HTMLElement {
  #ply = 0;
  #plies = 0;
  #drawn = 0; // counts the boards drawn, so that a slow answer does not overwrite a newer one
  #playing = false;
  #engineTurn = 0; // rises when another engine is chosen
  #resting = 0;
  /** @type {Map<number, import("./pieces.js").Opinion | null>} */
  #opinions = new Map();
  #board = new BoardView();
  #curve = new Curve((ply) => this.#go(ply));
  #view = makeView(this.#board, this.#curve.element);
  #query = new URLSearchParams();
  /** @type {Pieces | null} */
  #pieces = null;
  #rows = 4;
  #columns = 4;
  /** @type {(event: KeyboardEvent) => void} */
  #keys = (event) => this.#key(event);

  connectedCallback() {
    document.addEventListener("keydown", this.#keys);
    if (this.childElementCount) return;
    this.append(this.#view.root);
    const view = this.#view;
    view.first.onclick = () => this.#go(0);
    view.back.onclick = () => this.#go(this.#ply - 1);
    view.play.onclick = () => this.#toggle();
    view.next.onclick = () => this.#step();
    view.last.onclick = () => this.#go(this.#plies);
    view.seek.oninput = () => this.#go(view.seek.valueAsNumber);
    view.jump.onchange = () => this.#go(view.jump.valueAsNumber || 0);
    view.engine.onchange = () => this.#changeEngine();
    view.depth.onchange = () => this.#changeEngine();
    this.#begin();
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.#keys);
    this.#playing = false;
  }

  async #begin() {
    const view = this.#view;
    this.#query = new URLSearchParams({ file: this.dataset.file ?? "", game: this.dataset.game ?? "0" });
    this.#pieces = new Pieces(this.#query);
    try {
      const game = await fetchJson(`/api/replay?${this.#query}`);
      this.#plies = game.plies;
      this.#rows = game.rows;
      this.#columns = game.columns;
      view.setLength(game.plies);
      view.setEngines(JSON.parse(this.dataset.engines ?? "[]"), this.dataset.engine ?? "");
      view.depth.value = this.dataset.depth ?? "";
      this.#curve.setLength(game.plies);
      this.#curve.draw("score", game.curve.plies, game.curve.scores);
      if (game.recorded) this.#curve.draw("recorded", game.recorded.plies, game.recorded.values);
      view.showLegend(Boolean(game.recorded));
      await this.#go(Number(this.dataset.ply ?? 0));
      this.dataset.ready = "yes";
      await this.#valueCurve();
    } catch (error) {
      this.#tell(error);
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (
      target.closest("input, select, textarea, [role=combobox]") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    if (event.key === " " && target.closest("button, a")) return;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => this.#go(this.#ply - 1),
      ArrowRight: () => this.#step(),
      Home: () => this.#go(0),
      End: () => this.#go(this.#plies),
      PageUp: () => this.#go(this.#ply - FAR),
      PageDown: () => this.#go(this.#ply + FAR),
      " ": () => this.#toggle(),
      "+": () => this.#view.changeSpeed(1),
      "-": () => this.#view.changeSpeed(-1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  #step() {
    return this.#go(this.#ply + 1, this.#view.perSecond() <= SHOWN_SPEED || !this.#playing);
  }

  #toggle() {
    if (this.#playing) {
      this.#pause();
      return;
    }
    if (this.#ply >= this.#plies) this.#ply = 0;
    this.#playing = true;
    this.#view.showPlaying(true);
    let before = performance.now();
    let owed = 0;
    /** @param {number} now */
    const frame = async (now) => {
      if (!this.#playing) return;
      // A tab in the background gets no frames: what it missed is not caught up.
      owed += (Math.min(now - before, 250) / 1000) * this.#view.perSecond();
      before = now;
      const plies = Math.floor(owed);
      owed -= plies;
      if (plies === 1) await this.#step();
      else if (plies > 1) await this.#go(this.#ply + plies);
      if (this.#ply >= this.#plies) this.#pause();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  #pause() {
    this.#playing = false;
    this.#view.showPlaying(false);
    this.#rest();
  }

  /**
   * Show the board before a move, or the last one.
   * @param {number} ply
   * @param {boolean} [slide] whether its tiles slide there
   */
  async #go(ply, slide = false) {
    this.#ply = Math.max(0, Math.min(this.#plies, Math.round(ply)));
    const wanted = this.#ply;
    const turn = ++this.#drawn;
    this.#curve.point(wanted);
    this.#view.setPly(wanted);
    if (!this.#pieces) return;
    try {
      const piece = await this.#pieces.at(wanted);
      const before = slide && wanted ? await this.#pieces.at(wanted - 1) : null;
      if (turn !== this.#drawn) return;
      const at = wanted - piece.begin;
      this.#board.show({
        rows: this.#rows,
        columns: this.#columns,
        cells: piece.boards[at],
        motions: before?.motions[wanted - 1 - before.begin],
        ms: Math.min(100, 700 / this.#view.perSecond()),
      });
      const made = at < piece.directions.length ? piece.directions[at] : null;
      this.#view.setScore(piece.scores[at]);
      this.#view.setMade(made === null ? "none: the game ends here" : NAMES[made]);
      this.#view.showOpinion(this.#opinions.get(wanted), made, piece.values?.[at] ?? null);
      this.dataset.shown = String(wanted);
      if (!this.#playing || this.#view.perSecond() < 3) this.#rest();
      if (wanted + 1 < this.#plies)
        this.#pieces.at(Math.min(this.#plies, wanted + 64)).catch(() => undefined);
    } catch (error) {
      this.#tell(error);
    }
  }

  /** Ask for the opinion of the board shown, once it has been shown for a moment. */
  #rest() {
    window.clearTimeout(this.#resting);
    this.#resting = window.setTimeout(async () => {
      const ply = this.#ply;
      if (ply >= this.#plies || !this.#view.engine.value) return;
      try {
        // The curve may have asked for it since the board was drawn.
        if (!this.#opinions.has(ply)) await this.#ask([ply]);
        if (ply === this.#ply && this.#pieces) {
          const piece = await this.#pieces.at(ply);
          const at = ply - piece.begin;
          this.#view.showOpinion(this.#opinions.get(ply), piece.directions[at], piece.values?.[at] ?? null);
          this.dataset.opinion = String(ply);
        }
      } catch (error) {
        this.#tell(error);
      }
    }, REST_MS);
  }

  /** @param {number[]} plies */
  async #ask(plies) {
    const turn = this.#engineTurn;
    const query = new URLSearchParams(this.#query);
    query.set("plies", plies.join(","));
    query.set("engine", this.#view.engine.value);
    query.set("depth", this.#view.depth.value);
    const found = await fetchJson(`/api/opinions?${query}`);
    if (turn !== this.#engineTurn) return;
    this.#tell("");
    for (const [index, opinion] of found.opinions.entries()) this.#opinions.set(plies[index], opinion);
  }

  #changeEngine() {
    this.#engineTurn++;
    this.#opinions.clear();
    this.#curve.draw("value", [], []);
    this.#go(this.#ply);
    this.#valueCurve().catch((error) => this.#tell(error));
  }

  /** Draw the curve of the engine's values, a batch of plies after the other. */
  async #valueCurve() {
    const turn = this.#engineTurn;
    if (!this.#view.engine.value || !this.#plies) return;
    const step = Math.max(1, (this.#plies - 1) / (CURVE_SAMPLES - 1));
    const plies = Array.from(
      new Set(Array.from({ length: CURVE_SAMPLES }, (_, n) => Math.round(n * step))),
    ).filter((ply) => ply < this.#plies);
    for (let at = 0; at < plies.length; at += BATCH) {
      await this.#ask(plies.slice(at, at + BATCH));
      if (turn !== this.#engineTurn || !this.isConnected) return;
      const known = plies.filter((ply) => this.#opinions.get(ply));
      const values = known.map((ply) => {
        const opinion = this.#opinions.get(ply);
        const chosen = opinion?.direction ?? DIRECTIONS[0];
        return opinion?.afterstates[chosen] ?? opinion?.values[chosen] ?? 0;
      });
      this.#curve.draw("value", known, values);
      this.dataset.curve = String(known.length);
    }
  }

  /** @param {unknown} error */
  #tell(error) {
    this.#view.said.textContent = error instanceof Error ? error.message : String(error);
  }
}

customElements.define("game-replay", GameReplay);

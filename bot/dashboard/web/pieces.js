// The plies of a long game, fetched in pieces when they are needed; and what engines think of some of them.

export const PIECE = 256;
const MOST_PIECES = 40;

/**
 * @typedef {object} Piece
 * @property {number} begin
 * @property {number[][]} boards
 * @property {number[]} scores
 * @property {number[]} directions
 * @property {number[][]} motions
 * @property {(number | null)[][] | null} values
 */

/**
 * @typedef {object} Opinion
 * @property {string} direction
 * @property {Record<string, number>} values
 * @property {Record<string, number | null>} afterstates
 * @property {boolean} inPoints
 * @property {number} elapsedMs
 * @property {string} engine
 * @property {number} depth
 * @property {number} nodes
 */

/**
 * Fetch JSON; a refusal becomes an Error with its sentence.
 * @param {string} url
 * @param {RequestInit} [init]
 */
export async function fetchJson(url, init) {
  const answer = await fetch(url, init);
  const text = await answer.text();
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error(text.trim() || `the dashboard answers ${answer.status}`);
  }
  if (!answer.ok) throw new Error(found.error ?? `the dashboard answers ${answer.status}`);
  return found;
}

export class Pieces {
  /** @type {Map<number, Promise<Piece>>} */
  #pieces = new Map();
  #query;

  /** @param {URLSearchParams} query names the game */
  constructor(query) {
    this.#query = query;
  }

  /**
   * Return the piece that holds a ply.
   * @param {number} ply
   */
  at(ply) {
    const begin = ply - (ply % PIECE);
    let piece = this.#pieces.get(begin);
    this.#pieces.delete(begin);
    if (!piece) {
      piece = fetchJson(`/api/plies?${this.#query}&begin=${begin}&count=${PIECE}`);
      piece.catch(() => this.#pieces.delete(begin));
    }
    this.#pieces.set(begin, piece); // now the newest
    for (const oldest of this.#pieces.keys()) {
      if (this.#pieces.size <= MOST_PIECES) break;
      this.#pieces.delete(oldest);
    }
    return piece;
  }
}

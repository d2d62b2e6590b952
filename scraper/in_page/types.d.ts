// The types of the data that the scripts in this folder exchange with each other and with Python.

/** A reader's view of a board at one moment. */
export interface RawReading {
  rows: number;
  columns: number;
  /** Face values row by row, 0 for empty; NaN for a tile that could not be read; below 0 for an unknown look. */
  cells: number[];
  /** False while something in the picture contradicts itself, such as tiles on top of each other. */
  sure: boolean;
  /** The score's decimal digits. */
  score: string | null;
  best: string | null;
  /** Whether the page shows a win message. */
  won: boolean;
  /** Whether the page shows a game-over message. */
  over: boolean;
  /** True while tiles move; such a board must rest longer before it is believed. */
  moving?: boolean;
  /** The places of moving tiles; while this changes, the board is not at rest, even if it is drawn slowly. */
  onTheWay?: string;
  /** True while two equal tiles lie in one cell; the merged tile may appear later. */
  merging?: boolean;
  /** All tiles shown, each by its cell and its value, where a cell may hold several. */
  tiles?: [number, number][];
  /** A key for the look of each cell, where values are learned. */
  looks?: string[] | null;
  /** True if the page shows another board of the same size, so that this may be the wrong one. */
  rivals?: boolean;
  /** Numbers on tiles that no tile of 2048 shows. */
  odd?: number[];
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A canvas: its number, and its place in its frame. */
export interface CanvasPlace extends Box {
  id: number;
}

/** A text on a canvas, in the canvas's own pixels. */
export interface Note {
  text: string;
  /** The middle of the text. */
  x: number;
  y: number;
  /** The point that the page gave, which is the middle or a corner. */
  atX: number;
  atY: number;
  /** The height of the letters. */
  height: number;
}

/** A text on a canvas, by its place in the frame. */
export type DrawnText = Note;

/** The cells of a board on a canvas: the centre of the first within the canvas, the distances between centres. */
export interface CanvasLattice {
  canvas: number;
  x: number;
  y: number;
  pitchX: number;
  pitchY: number;
  rows: number;
  columns: number;
}

/** A request for the pixels of cells; `width` and `height` give the size of the wanted part of a cell. */
export interface CellsRequest extends CanvasLattice {
  width: number;
  height: number;
  /** The wanted number of pixels across. */
  side: number;
}

/** What the texts on canvases say about the game. */
export interface CanvasWords {
  score: string | null;
  best: string | null;
  won: boolean;
  over: boolean;
}

/** The pixels of all cells in base64, and the size of the canvas in the window. */
export interface CanvasCells {
  cells: string | null;
  /** Whether the browser forbids to read the canvas, because it shows pictures of other sites. */
  closed: boolean;
  width: number;
  height: number;
  /** Missing if the canvas has gone. */
  words?: CanvasWords;
}

/** For how long the cells must look the same after a change, or without one; the longest wait in milliseconds. */
export interface StillRequest {
  isFirst: boolean;
  frames: number;
  ms: number;
  idleFrames: number;
  idleMs: number;
  longest: number;
}

export interface CanvasStill extends CanvasCells {
  /** In how many frames in a row, and for how many milliseconds, the cells have looked the same. */
  frames: number;
  ms: number;
  /** The number of frames from the first change to the last. */
  changing: number;
}

/** How a number looks in a font of the page: its ink, fitted into a square, in base64. */
export interface NumberShape {
  number: number;
  /** Its width divided by its height. */
  aspect: number;
  /** The side of the square. */
  side: number;
  ink: string;
}

/** Reads one board. */
export interface Reader {
  read(): RawReading;
  /** Whether the board is still there; without this method it is found again at each reading. */
  isAlive?(): boolean;
  /** Where the board is in its frame. */
  region?(): Box;
  /** Find another board from now on. */
  skip?(): void;
  unskip?(): void;
  /** What else to watch for changes: documents and shadow roots. */
  roots?(): Node[];
  /** True if its board may change without a change of the document; then it reads in each frame. */
  byFrames?: boolean;
  /** Store the face values of looks, and whether tiles show exponents. */
  learn?(labels: Record<string, number> | undefined, ranks: boolean | undefined): void;
}

/** Why a board is not one of 2048. */
export interface Refusal {
  why: string;
}

/** Finds boards of one kind in the document. */
export type Find = () => Reader | Refusal | null;

/** A box of the page by its centre. */
export interface Point {
  element: Element;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Boxes of one size. */
export interface Group {
  w: number;
  h: number;
  points: Point[];
}

/** Cells in an even rectangle: the centre of the first, the distances between centres, the size of a cell. */
export interface Lattice {
  x: number;
  y: number;
  px: number;
  py: number;
  w: number;
  h: number;
  rows: number;
  columns: number;
  boxes: Point[];
  /** All boxes of the page that were looked at. */
  allBoxes?: Point[];
  /** The element that the cells divide evenly, where no cells are drawn. */
  around?: Element;
}

/** What is the same before and after the number on every tile. */
export interface Dress {
  before: string;
  after: string;
}

export interface LatticeBoard {
  lattice: Lattice;
  /** The element that holds all of the board. */
  scope: Element;
  /** Where that was when the board was found. */
  home: DOMRect;
  prefix: string | null;
  dress: Dress | null;
  /** Text smaller than this names the cell. */
  leastFont?: number;
  odd?: number[];
  ranked?: boolean;
  /** Leave the colour of the ground out of the looks. */
  bare?: boolean;
  rivals?: boolean;
  isTurned?: boolean;
  /** Known by the order of its elements. */
  structured?: boolean;
  isFlat?: boolean;
  /** Written as text. */
  written?: boolean;
}

/** The values in each cell, and what else was noticed. */
export interface CellValues {
  stacks: number[][];
  odd: number[];
  moving: boolean;
}

/** The [board] table of a site profile; see docs/pages.md. */
export interface SiteBoard {
  selector: string;
  tile: string;
  rows: number;
  columns: number;
  value: string;
  pattern: string | null;
  ranks: boolean;
  score: string | null;
}

/** What Python asks for with awaitSettled. */
export interface SettledRequest {
  quiet: number;
  cap: number;
  fresh?: boolean;
  unblocked?: boolean;
  labels?: Record<string, number>;
  ranks?: boolean;
}

/** Which tiles spawn on the page, and how many. */
export interface SpawnRule {
  values: number[];
  least: number;
  most: number;
}

/** What Python asks for with awaitSlide. */
export interface SlideRequest {
  before: number[];
  afters: number[][];
  spawn?: SpawnRule | null;
  score: string | null;
  keys: number;
  trusting: boolean;
  quiet: number;
  idle: number;
  quietOther: number;
  cap: number;
  /** Whether to look out for the board before the move is confirmed; `awaitForeseen` tells it. */
  foresee?: boolean;
  labels?: Record<string, number>;
  ranks?: boolean;
}

/** What the waits resolve to. */
export interface Report {
  outcome: "settled" | "moving" | "gone" | "slid" | "unchanged" | "other";
  reading: RawReading | null;
  /** The first board that would have been accepted in trust. */
  early: number[] | null;
  /** The cells when the last arrow key arrived, before the page saw it. */
  atKey: number[] | null;
  keysSeen: number;
  /** Whether the page showed the board some time before the move was confirmed. */
  foreseen: boolean;
  name: string | null;
}

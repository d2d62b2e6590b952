// The functions that Python calls by name; see worlds.py.

export { directionButtons, isButtonAt } from "./buttons.js";
export { askBy, canvasPlace, canvasPlaces, drawsNumbers } from "./canvases.js";
export { canvasCells, canvasStill } from "./cell_pixels.js";
export { numberShapes } from "./number_shapes.js";
export {
  choose,
  findObstacles,
  isLively,
  loneField,
  pageText,
  readyState,
  says,
  saysLoading,
} from "./obstacles.js";
export {
  attachTo,
  attachToCanvas,
  awaitChange,
  awaitForeseen,
  awaitSettled,
  awaitSlide,
  look,
  region,
  skip,
} from "./probe.js";
export { outlineOf } from "./report_outline.js";
export { awaitFrames, metrics, scrolling } from "./window.js";

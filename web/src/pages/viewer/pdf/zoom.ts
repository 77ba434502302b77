/** 1: a page fills the width. */
const steps = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4]

/** The next step in a direction; the same value at the end. */
export function nextZoom(zoom: number, direction: 1 | -1): number {
  const next = direction > 0 ? steps.find((step) => step > zoom) : steps.findLast((step) => step < zoom)
  return next ?? zoom
}

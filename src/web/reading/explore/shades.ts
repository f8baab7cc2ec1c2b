/** The shades of cells: of the heat map by the size of the figure, of ROI by its distance from zero. */

/** `most` is the highest figure of the map. */
export function shadeOf(value: number | undefined, most: number) {
  if (value === undefined || value <= 0 || most <= 0) return undefined
  const depth = Math.round(6 + 54 * Math.min(1, value / most))
  return { backgroundColor: `color-mix(in oklab, var(--chart-1) ${depth}%, transparent)` }
}

/** A tint of ROI from ±10 % on, stronger the further it is from zero, so that a long list can be scanned. */
export function tintOf(roi: number | undefined) {
  if (roi === undefined || Math.abs(roi) < 0.1) return undefined
  const depth = Math.round(35 + 65 * Math.min(1, Math.abs(roi)))
  return {
    backgroundColor: `color-mix(in oklab, var(${roi > 0 ? '--good-soft' : '--bad-soft'}) ${depth}%, transparent)`,
  }
}

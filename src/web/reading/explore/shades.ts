/** What cells are shaded by: a figure of the map of hours by how much it is, an ROI by how far it is from zero. */

/** `most` is the highest of the map. */
export function shadeOf(value: number | undefined, most: number) {
  if (value === undefined || value <= 0 || most <= 0) return undefined
  const depth = Math.round(6 + 54 * Math.min(1, value / most))
  return { backgroundColor: `color-mix(in oklab, var(--chart-1) ${depth}%, transparent)` }
}

/** From where a row earns or loses a tenth of its cost, the deeper the more, so that a long list can be scanned. */
export function tintOf(roi: number | undefined) {
  if (roi === undefined || Math.abs(roi) < 0.1) return undefined
  const depth = Math.round(35 + 65 * Math.min(1, Math.abs(roi)))
  return {
    backgroundColor: `color-mix(in oklab, var(${roi > 0 ? '--good-soft' : '--bad-soft'}) ${depth}%, transparent)`,
  }
}

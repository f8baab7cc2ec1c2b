// Draws the curves of a soak as a small SVG that is readable on light and dark pages.
import { median } from '../ratio.ts'
import type { SoakPoint } from './watch.ts'

type Curve = { name: string; values: number[] }
type Panel = { title: string; unit: string; curves: Curve[] }

const WIDTH = 720
const HEIGHT = 220
const LEFT = 56
const RIGHT = 16
const TOP = 40
const BOTTOM = 28
/** More would be closer together than two pixels, and make the file large. */
const MOST_POINTS = 120
/** Each has enough contrast on white and on black. */
const COLORS = ['#2f7ed8', '#d9822b', '#2e9e5b', '#b455c8', '#c94a4a']
const MARKS = [0.25, 0.5, 1]

/** Memory by process, and the p99 of redirects and conversions. */
export function drawSoak(points: readonly SoakPoint[]): string {
  const seconds = points.at(-1)?.at_s ?? 0
  const processes = Object.keys(points.at(-1)?.memory_mb ?? {})
  const panels: Panel[] = [
    {
      title: 'Memory by process',
      unit: 'MB',
      curves: processes.map(name => ({ name, values: points.map(({ memory_mb }) => memory_mb[name] ?? 0) })),
    },
    {
      title: 'p99',
      unit: 'ms',
      curves: (['redirects', 'conversions'] as const).map(name => ({ name, values: points.map(one => one[name].p99) })),
    },
  ]
  const height = HEIGHT * panels.length
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    '<style>text{fill:#333}.line{stroke:#8886}path{fill:none;stroke-width:1.5;stroke-linejoin:round}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>',
    ...panels.flatMap((panel, at) => drawPanel(panel, at * HEIGHT, seconds)),
    '</svg>\n',
  ].join('\n')
}

function drawPanel({ title, unit, curves }: Panel, top: number, seconds: number): string[] {
  const highest = roundUp(Math.max(1e-9, ...curves.flatMap(({ values }) => thinned(values))))
  const bottom = HEIGHT - BOTTOM
  const y = (value: number) => bottom - (value / highest) * (bottom - TOP)
  const marks = [0, ...MARKS].map(part => part * highest)
  const legend = curves.map(
    ({ name }, at) =>
      `<tspan fill="${COLORS[at % COLORS.length]}" style="fill:${COLORS[at % COLORS.length]}" dx="12">${name}</tspan>`,
  )
  return [
    `<g transform="translate(0 ${top})">`,
    `<text x="${LEFT}" y="20"><tspan font-weight="600">${title}</tspan> (${unit})${legend.join('')}</text>`,
    ...marks.map(value => `<path class="line" d="M${LEFT} ${y(value).toFixed(1)}H${WIDTH - RIGHT}"/>`),
    ...marks.map(
      value =>
        `<text x="${LEFT - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${Number(value.toPrecision(3))}</text>`,
    ),
    ...[0, 0.5, 1].map(part => {
      const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle'
      const x = LEFT + part * (WIDTH - LEFT - RIGHT)
      return `<text x="${x}" y="${bottom + 18}" text-anchor="${anchor}">${timeText(part * seconds)}</text>`
    }),
    ...curves.map(
      ({ values }, at) => `<path stroke="${COLORS[at % COLORS.length]}" d="${pathOf(thinned(values), y)}"/>`,
    ),
    '</g>',
  ]
}

function pathOf(values: readonly number[], y: (value: number) => number): string {
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, values.length - 1)
  return values
    .map((value, at) => `${at === 0 ? 'M' : 'L'}${(LEFT + at * step).toFixed(1)} ${y(value).toFixed(1)}`)
    .join('')
}

/** Medians of equal parts. */
function thinned(values: readonly number[]): number[] {
  const size = Math.ceil(values.length / MOST_POINTS)
  const medians = Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    median(values.slice(at * size, (at + 1) * size).filter(Number.isFinite)),
  )
  // A window without an answer has no p99, and is drawn as the one before.
  return medians.map((value, at) =>
    Number.isNaN(value) ? (medians.slice(0, at).findLast(Number.isFinite) ?? 0) : value,
  )
}

/** The next of 1, 2, 4, 6, 8 or 10 of the value's order, so that a quarter and a half of it are short. */
function roundUp(value: number): number {
  const order = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 6, 8, 10].find(step => step * order >= value) ?? 10) * order
}

function timeText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${Number((seconds / 3600).toFixed(1))} h`
}

/**
 * The ladder as water through gates: how much of the clicks came to each stage. Heights are true to the share. Campaigns differ in their
 * stages, so there is water for one of them only, over the stages that it has; of several the numbers stand alone.
 */

import { count, percent, ratio } from '../../ground/figures/figures.ts'
import type { Totals } from '../../ground/figures/measures.ts'
import { inWords, LADDER } from '../../ground/rungs.ts'

const HEIGHT = 32
const WIDTH = 100

export function Flow({ totals, isOne }: { totals: Totals; isOne: boolean }) {
  const rungs = LADDER.map(rung => {
    const value = rung === 'clicked' ? totals.clicks : totals[rung]
    return { rung, value, share: ratio(value, totals.clicks) }
  }).filter(({ rung, value }) => !isOne || rung === 'clicked' || value > 0)
  return (
    <div className="border-t border-line">
      <h2 className="sr-only">From click to first deposit</h2>
      <ol className="max-lg:divide-y max-lg:divide-line lg:grid lg:auto-cols-fr lg:grid-flow-col">
        {rungs.map(({ rung, value, share }, index) => (
          <li
            key={rung}
            className="relative flex items-baseline gap-3 px-4 py-1.5 max-lg:isolate lg:block lg:border-l lg:border-line lg:py-1.5 lg:first:border-l-0"
          >
            <span
              aria-hidden
              className="absolute inset-y-0 left-0 -z-10 bg-chart-1/15 lg:hidden"
              style={{ width: `${(share ?? 0) * 100}%` }}
            />
            <span className="flex-1 text-sm text-ink-soft lg:block">{inWords(rung)}</span>
            <span className="font-semibold">{count(value)}</span>
            <span className="w-14 text-right text-sm text-ink-faint lg:ml-1.5 lg:w-auto">
              {index === 0 ? '' : percent(share)}
            </span>
          </li>
        ))}
      </ol>
      {isOne && totals.clicks > 0 && <Water shares={rungs.map(({ share }) => share ?? 0)} />}
    </div>
  )
}

function Water({ shares }: { shares: readonly number[] }) {
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${WIDTH * shares.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="hidden h-8 w-full lg:block"
    >
      <path d={stream(shares)} className="fill-chart-1/20" />
      <path
        d={surface(shares)}
        fill="none"
        className="stroke-chart-1"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}

/** The water's surface: level within a rung, falling smoothly at the gate to the next. */
function surface(shares: readonly number[]): string {
  const levels = shares.map(share => HEIGHT - 1 - Math.min(1, share) * (HEIGHT - 6))
  return levels
    .map((level, index) => {
      const left = index * WIDTH
      const start = index === 0 ? `M0 ${level}` : `C${left} ${levels[index - 1]} ${left} ${level} ${left + 18} ${level}`
      return `${start}H${left + WIDTH - (index === levels.length - 1 ? 0 : 18)}`
    })
    .join('')
}

function stream(shares: readonly number[]): string {
  return `${surface(shares)}V${HEIGHT}H0z`
}

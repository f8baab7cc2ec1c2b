/** Joins of all channels in the window: how many, how many left, how surely their clicks are known. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { type ChannelFigures, readChannelFigures } from '../../../telegram/members/api.ts'
import { ask } from '../../ground/call.ts'
import { CertaintyBar } from '../../ground/certainty.tsx'
import { count, percent, ratio } from '../../ground/figures/figures.ts'
import type { Days } from '../../ground/figures/window.ts'
import { Section } from '../../ground/ui/page.tsx'

type Row = z.input<typeof ChannelFigures>

/** Nothing where there are no channels. */
export function ChannelsCard({ days }: { days: Days }) {
  const figures = useQuery({
    ...ask(readChannelFigures, { query: { date_from: days.from, date_to: days.to } }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })
  const rows = figures.data?.rows ?? []
  if (rows.length === 0) return null
  const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0)
  const [joins, organic, left] = [sum(row => row.joins), sum(row => row.organic), sum(row => row.left)]
  const tiles = [
    ['Requests', count(sum(row => row.requests)), ''],
    ['Joins', count(joins), 'with a click'],
    ['Organic', count(organic), 'without one'],
    ['Left', count(left), joins === 0 ? '' : `${percent(ratio(left, joins))} of joins`],
  ] as const
  return (
    <Section title="Channels" words="By UTC day of the join.">
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <dl className="grid grid-cols-2 gap-px border-b border-line bg-line sm:grid-cols-4">
          {tiles.map(([label, value, words]) => (
            <div key={label} className="bg-surface px-3.5 pt-2.5 pb-2">
              <dt className="text-sm text-ink-soft">{label}</dt>
              <dd className="text-lg font-semibold tracking-tight">{value}</dd>
              <dd className="h-4.5 text-sm text-ink-faint">{words}</dd>
            </div>
          ))}
        </dl>
        <div className="px-3.5 py-3">
          <CertaintyBar
            shares={{
              link: sum(row => row.certainty.link),
              person: sum(row => row.certainty.person),
              campaign: sum(row => row.certainty.campaign),
              organic: sum(row => row.certainty.organic),
            }}
          />
        </div>
      </div>
    </Section>
  )
}

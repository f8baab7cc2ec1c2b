/** The goal and the days last chosen in this browser: what the overview opens with where its address says nothing at all. */
import { z } from 'zod'
import { OverviewSearch } from '../../ground/figures/search.ts'

const KEY = 'overview'

const { goal, pending, range, from, to } = OverviewSearch.shape
/** `on` is the day of the choice. */
const Kept = z.object({ goal, pending, range, from, to, on: z.string().optional() }).catch({})

function kept(): z.output<typeof Kept> {
  try {
    return Kept.parse(JSON.parse(localStorage.getItem(KEY) ?? '{}'))
  } catch {
    return {}
  }
}

/** What was chosen, said outright: the address of a default that someone chose shows the same to whoever else opens it. */
export function choose(changes: OverviewSearch, today: string): OverviewSearch {
  const days = 'range' in changes || 'from' in changes
  const isUsual = days && changes.range === undefined && changes.from === undefined
  const chosen: OverviewSearch = {
    ...changes,
    ...('goal' in changes && { goal: changes.goal ?? 'own' }),
    ...(isUsual && { range: '7d' as const }),
  }
  const next = {
    ...kept(),
    ...('goal' in chosen && { goal: chosen.goal }),
    ...('pending' in chosen && { pending: chosen.pending }),
  }
  const window = days ? { range: chosen.range, from: chosen.from, to: chosen.to, on: today } : {}
  localStorage.setItem(KEY, JSON.stringify({ ...next, ...window }))
  return chosen
}

/** First and last day hold for the day they were chosen on; a month later nobody means them. */
export function remembered(today: string): OverviewSearch {
  const { on, from: first, to: last, ...usual } = kept()
  return on === today ? { ...usual, from: first, to: last } : usual
}

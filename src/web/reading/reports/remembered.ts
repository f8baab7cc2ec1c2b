/** The goal and days last chosen in this browser, with which the overview opens where its address is empty. */
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

/** Remembers a choice and returns it with defaults spelled out, so that the address shows the same to everyone. */
export function rememberChoice(changes: OverviewSearch, today: string): OverviewSearch {
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

/** The remembered choice. First and last day are used only on the day on which they were chosen. */
export function remembered(today: string): OverviewSearch {
  const { on, from: first, to: last, ...usual } = kept()
  return on === today ? { ...usual, from: first, to: last } : usual
}

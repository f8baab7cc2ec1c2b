/** What a saved view keeps of the screen, and whether the screen still shows it. */
import type { z } from 'zod'
import type { ExploreQuestion } from '../../../contract/explore.ts'
import type { ExploreView } from '../../../reading/explore-views/api.ts'
import { searchOf } from './question.ts'
import { ExploreSearch } from './search.ts'

export type View = z.input<typeof ExploreView>
export type Question = z.input<typeof ExploreQuestion>
/** What the address holds. */
export type Screen = Readonly<Record<string, unknown>>
export type Kept = { readonly question: Question; readonly screen: NonNullable<View['screen']> }

/** Neither the moments of the window, because the days stand in the address as they were chosen; nor open rows, which are of one look at it. */
const MOMENTARY = new Set(['date_from', 'date_to', 'time_zone', 'within', 'after'])

export function keptOf(question: Question, screen: Screen): Kept {
  const asked = Object.entries(question).filter(([name]) => !MOMENTARY.has(name))
  const said = Object.entries(screen).filter(([name]) => name !== 'open')
  // As it will be read again: without what is undefined.
  return JSON.parse(JSON.stringify({ question: Object.fromEntries(asked), screen: Object.fromEntries(said) })) as Kept
}

/** The database keeps fields in an order of its own. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, of]) => [name, inOrder(of)])
}

const DAYS = ['range', 'from', 'to'] as const

/** What the address is to hold for a view: what was saved of it, else what its question says. Days that it does not name stay. */
export function screenOf({ screen, question }: View, now: Screen): ExploreSearch {
  if (screen !== null) return ExploreSearch.parse(screen)
  const asked = question === null ? {} : searchOf(question)
  const days = Object.fromEntries(DAYS.map(name => [name, now[name]]))
  return ExploreSearch.parse(asked.from === undefined ? { ...days, ...asked } : asked)
}

/** As it is read from an address, without what is undefined. */
const written = ({ open: _, ...screen }: Screen): string => JSON.stringify(inOrder(JSON.parse(JSON.stringify(screen))))

export const isSame = (one: Screen, other: Screen): boolean => written(one) === written(other)

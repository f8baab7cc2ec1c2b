/** What a saved view stores of the screen, and whether the screen still shows it. */
import type { z } from 'zod'
import type { ExploreView } from '../../../reading/explore-views/api.ts'
import { type Question, searchOf } from './question.ts'
import { ExploreSearch } from './search.ts'

export type View = z.input<typeof ExploreView>
/** The parameters of the address. */
export type Screen = Readonly<Record<string, unknown>>
export type Kept = { readonly question: Question; readonly screen: NonNullable<View['screen']> }

/** Not stored: the moments of the window, because the screen has the days as they were chosen, and open rows, which are momentary. */
const MOMENTARY = new Set(['date_from', 'date_to', 'time_zone', 'within', 'after'])

export function keptOf(question: Question, screen: Screen): Kept {
  const asked = Object.entries(question).filter(([name]) => !MOMENTARY.has(name))
  const said = Object.entries(screen).filter(([name]) => name !== 'open')
  // As JSON, without undefined fields, so that it compares with a view that was read.
  return JSON.parse(JSON.stringify({ question: Object.fromEntries(asked), screen: Object.fromEntries(said) })) as Kept
}

/** Sorts fields, because the database does not keep their order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, of]) => [name, inOrder(of)])
}

const DAYS = ['range', 'from', 'to'] as const

/** The address for a view: its stored screen, else one made from its question. Days that it does not name stay. */
export function screenOf({ screen, question }: View, now: Screen): ExploreSearch {
  if (screen !== null) return ExploreSearch.parse(screen)
  const asked = question === null ? {} : searchOf(question)
  const days = Object.fromEntries(DAYS.map(name => [name, now[name]]))
  return ExploreSearch.parse(asked.from === undefined ? { ...days, ...asked } : asked)
}

/** A screen as comparable text, without undefined fields and open rows. */
const written = ({ open: _, ...screen }: Screen): string => JSON.stringify(inOrder(JSON.parse(JSON.stringify(screen))))

export const isSame = (one: Screen, other: Screen): boolean => written(one) === written(other)

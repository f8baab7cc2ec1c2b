/** Redirects old addresses of the overview's former table to the Report. */
import { z } from 'zod'
import { ALL_MEASURES } from '../../../contract/explore-measures.ts'
import { ExploreSearch } from './search.ts'

/** The dimensions of the former table; `week` was its map of hours. */
const LEVEL_OF = {
  campaign: 'campaign',
  geo: 'geo',
  sub1: 'sub1',
  offer: 'offer',
  day: 'day',
  hour: 'hour',
  week: 'campaign',
} as const

/** Former names of goals. */
const OLD_GOALS: Readonly<Record<string, string>> = { started: 'bot_start', registered: 'registration' }

const text = z.string().optional().catch(undefined)
const OldOverview = z.looseObject({
  by: z
    .enum(Object.keys(LEVEL_OF) as (keyof typeof LEVEL_OF)[])
    .optional()
    .catch(undefined),
  sort: text,
  heat: text,
  goal: text,
  campaign: text,
})

/** The measure of a former column name; columns of events were named by their type alone. */
const figureIn = (name: string): string =>
  name === 'goal' ? 'conversions' : (ALL_MEASURES.find(one => one === name || one === `events_${name}`) ?? name)

/** The Report's address for an old address of the overview; undefined where that has no parameters of the former table. */
export function reportOfOverview(address: Readonly<Record<string, unknown>>): ExploreSearch | undefined {
  const { by, sort, heat, goal, campaign, range, from, to, pending } = OldOverview.parse(address)
  if (by === undefined && sort === undefined && heat === undefined) return undefined
  const id = figureIn(sort?.replace(/^-/, '') ?? '')
  const level = LEVEL_OF[by ?? 'campaign']
  return ExploreSearch.parse({
    range,
    from,
    to,
    pending,
    ...(level !== 'campaign' && { by: level }),
    ...(by === 'week' && { view: 'hours', shade: heat === undefined ? undefined : figureIn(heat) }),
    ...(ALL_MEASURES.some(measure => measure === id) && { sort: `${sort?.startsWith('-') === true ? '-' : ''}${id}` }),
    ...(goal !== undefined && { goal: OLD_GOALS[goal] ?? goal }),
    ...(campaign !== undefined && { where: [['campaign', 'is', campaign]] }),
  })
}

/** Where addresses lead that were kept from before: the table of the overview, and the page when it was called Explore. */
import { z } from 'zod'
import { ALL_MEASURES } from '../../../contract/explore-measures.ts'
import { ExploreSearch } from './search.ts'

/** What the overview's table could be broken down by; the map of hours was one of them. */
const LEVEL_OF = {
  campaign: 'campaign',
  geo: 'geo',
  sub1: 'sub1',
  offer: 'offer',
  day: 'day',
  hour: 'hour',
  week: 'campaign',
} as const

/** As addresses of before named goals and figures. */
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

/** Types of events had their slugs for columns. */
const figureIn = (name: string): string =>
  name === 'goal' ? 'conversions' : (ALL_MEASURES.find(one => one === name || one === `events_${name}`) ?? name)

/** The report that an address of the overview asked for with its table; undefined where it asked for the overview alone. */
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

/** What the overview's address holds. Whatever is left out has its default, whatever is mistyped counts as left out. */
import { z } from 'zod'
import { DIMENSIONS } from '../../../reading/reports/api.ts'
import { LADDER, type Rung } from '../rungs.ts'
import { RANGES } from './window.ts'

export const GOALS = LADDER.slice(1) as Exclude<Rung, 'clicked'>[]
export type Goal = (typeof GOALS)[number]

export const CHARTS = ['clicks', 'goal', 'cr', 'revenue', 'cost', 'profit', 'roi', 'epc'] as const
export type Chart = (typeof CHARTS)[number]

const day = z.iso.date().optional().catch(undefined)

/** A window in an address: a preset, or first and last UTC day; both of them, or `range` holds. */
export const WindowSearch = z.object({ range: z.enum(RANGES).optional().catch(undefined), from: day, to: day })
export type WindowSearch = z.output<typeof WindowSearch>

const goal = z.enum(GOALS).optional().catch(undefined)
const sort = z.string().optional().catch(undefined)

/** Of a list with figures: their days, the rung that CR counts, and a column to sort by, with a leading minus for the largest first. */
export const FiguresSearch = WindowSearch.extend({ goal, sort })
export type FiguresSearch = z.output<typeof FiguresSearch>

export const OverviewSearch = WindowSearch.extend({
  by: z.enum(DIMENSIONS).optional().catch(undefined),
  campaign: z.string().optional().catch(undefined),
  /** The rung that CR and CPA count. */
  goal,
  chart: z.enum(CHARTS).optional().catch(undefined),
  /** A column of the table, with a leading minus for the largest first. */
  sort,
})
export type OverviewSearch = z.output<typeof OverviewSearch>

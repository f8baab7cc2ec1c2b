/** What the overview's address holds. Whatever is left out has its default, whatever is mistyped counts as left out. */
import { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { RANGES } from './window.ts'

/** What CR and CPA count: each campaign's own goal, clicks that came to a landing, or conversions of one type. */
export type Goal = 'own' | 'landed' | EventType
const GOALS: readonly Goal[] = ['own', 'landed', ...EVENT_TYPES]
/** As addresses of before named them. */
const OLD_GOALS: Partial<Record<string, Goal>> = { started: 'bot_start', registered: 'registration' }

export const CHARTS = ['clicks', 'conversions', 'cr', 'revenue', 'cost', 'profit', 'roi', 'epc'] as const
export type Chart = (typeof CHARTS)[number]

const day = z.iso.date().optional().catch(undefined)

/** A window in an address: a preset, or first and last UTC day; both of them, or `range` holds. */
export const WindowSearch = z.object({ range: z.enum(RANGES).optional().catch(undefined), from: day, to: day })
export type WindowSearch = z.output<typeof WindowSearch>

const goal = z
  .preprocess(sent => OLD_GOALS[String(sent)] ?? sent, z.enum(GOALS as [Goal, ...Goal[]]).optional())
  .catch(undefined)
/** As addresses of before named the figure. */
const renamed = (sent: unknown) => (typeof sent === 'string' ? sent.replace(/^(-?)goal$/, '$1conversions') : sent)
const sort = z.preprocess(renamed, z.string().optional()).catch(undefined)
/** Whether conversions on hold count like approved ones. */
const pending = z.literal(true).optional().catch(undefined)

/** Of a list with figures: their days, which conversions count, and a column to sort by, with a leading minus for the largest first. */
export const FiguresSearch = WindowSearch.extend({ goal, pending, sort })
export type FiguresSearch = z.output<typeof FiguresSearch>

export const OverviewSearch = WindowSearch.extend({
  campaign: z.string().optional().catch(undefined),
  goal,
  pending,
  chart: z.preprocess(renamed, z.enum(CHARTS).optional()).catch(undefined),
})
export type OverviewSearch = z.output<typeof OverviewSearch>

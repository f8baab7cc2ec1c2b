/** The overview's search parameters. A missing or invalid parameter has its default. */
import { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { RANGES } from './window.ts'

/** What CR and CPA count: each campaign's own goal, clicks that reached a landing, or conversions of one type. */
export type Goal = 'own' | 'landed' | EventType
const GOALS: readonly Goal[] = ['own', 'landed', ...EVENT_TYPES]
/** Their names in old addresses. */
const OLD_GOALS: Partial<Record<string, Goal>> = { started: 'bot_start', registered: 'registration' }

export const CHARTS = ['clicks', 'conversions', 'cr', 'revenue', 'cost', 'profit', 'roi', 'epc'] as const
export type Chart = (typeof CHARTS)[number]

const day = z.iso.date().optional().catch(undefined)

/** The days in an address: a preset, or first and last day. Without both days `range` applies. */
export const WindowSearch = z.object({ range: z.enum(RANGES).optional().catch(undefined), from: day, to: day })
export type WindowSearch = z.output<typeof WindowSearch>

const goal = z
  .preprocess(sent => OLD_GOALS[String(sent)] ?? sent, z.enum(GOALS as [Goal, ...Goal[]]).optional())
  .catch(undefined)
/** The name of the figure in old addresses. */
const renamed = (sent: unknown) => (typeof sent === 'string' ? sent.replace(/^(-?)goal$/, '$1conversions') : sent)
const sort = z.preprocess(renamed, z.string().optional()).catch(undefined)
/** Whether conversions on hold count as approved. */
const pending = z.literal(true).optional().catch(undefined)

/** For a list with figures: the days, which conversions count, and the column to sort by. A leading minus sorts the largest first. */
export const FiguresSearch = WindowSearch.extend({ goal, pending, sort })
export type FiguresSearch = z.output<typeof FiguresSearch>

export const OverviewSearch = WindowSearch.extend({
  campaign: z.string().optional().catch(undefined),
  goal,
  pending,
  chart: z.preprocess(renamed, z.enum(CHARTS).optional()).catch(undefined),
})
export type OverviewSearch = z.output<typeof OverviewSearch>

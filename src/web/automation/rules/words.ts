/** Rules in words: their sentence, their figures and their acts. */
import type { z } from 'zod'
import type { ResultRule, RuleCheck } from '../../../automation/rules/api.ts'
import { figureOf } from '../../../contract/figures.ts'
import { RULE_FIELDS, type RULE_FIGURES } from '../../../contract/rules.ts'
import { NONE, count, moneyOrNone, percent } from '../../ground/figures/figures.ts'

export type RuleView = z.input<typeof ResultRule>
export type CheckView = z.input<typeof RuleCheck>
export type RuleFigure = (typeof RULE_FIGURES)[number]
type Act = RuleView['then'][number]
type Condition = RuleView['when'][number]

const FIELD_WORDS: Partial<Record<(typeof RULE_FIELDS)[number], string>> = {
  geo: 'country',
  os: 'OS',
}
export const ruleFieldInWords = (field: (typeof RULE_FIELDS)[number]): string => FIELD_WORDS[field] ?? field

/** `cost > 3 payouts`, `ROI < −40%`. */
function conditionInWords(condition: Condition): string {
  const sign = condition.is === 'above' ? '>' : '<'
  const { name, unit } = figureOf(condition.figure)
  if ('times_payout' in condition) return `${name} ${sign} ${condition.times_payout} payouts`
  const { value } = condition
  if (unit === 'share') return `${name} ${sign} ${percent(Number(value))}`
  return `${name} ${sign} ${unit === 'count' ? count(Number(value)) : `$${moneyOrNone(String(value))}`}`
}

function actInWords(act: Act): string {
  if (act.type === 'tell') return 'tell receivers'
  if (act.type === 'leave_out') return 'leave it out'
  if (act.type === 'pause') return 'pause the campaign'
  if (act.type === 'weights') return `give it ${percent(act.share)} of the funnel`
  return `cap the campaign at ${count(act.limit)} clicks ${act.period === 'total' ? 'in total' : `a ${act.period}`}`
}

const hoursInWords = (hours: number): string =>
  hours % 24 === 0 ? (hours === 24 ? 'day' : `${hours / 24} days`) : hours === 1 ? 'hour' : `${hours} hours`

export function rhythmInWords({ every, at }: Pick<RuleView, 'every' | 'at'>): string {
  if (every === 'day') return `daily at ${at ?? '09:00'}`
  return every === 60 ? 'every hour' : `every ${every} minutes`
}

/** The whole rule in a sentence, without its campaigns. */
export function ruleInWords(rule: RuleView): string {
  const { value_of, when, window, at_least, then, back } = rule
  const minimum = [
    ...(at_least.clicks === undefined ? [] : [`${count(at_least.clicks)} clicks`]),
    ...(at_least.cost === undefined ? [] : [`$${moneyOrNone(at_least.cost)}`]),
  ].join(' and ')
  const newest =
    window.leave_out_newest_hours === 0 ? '' : `, without the newest ${hoursInWords(window.leave_out_newest_hours)}`
  return [
    `When ${value_of === null ? 'a campaign' : `a ${ruleFieldInWords(value_of)}`} has ${when.map(conditionInWords).join(' and ')} in the last ${hoursInWords(window.hours)}${newest}, with at least ${minimum}: ${then.map(actInWords).join(', ')}.`,
    ...(back === null ? [] : [backInWords(back)]),
  ].join(' ')
}

function backInWords(back: NonNullable<RuleView['back']>): string {
  if ('when' in back) return `It comes back when ${back.when.map(conditionInWords).join(' and ')}.`
  const days = back.after_days === 1 ? 'a day' : `${back.after_days} days`
  return `After ${days} ${back.share < 1 ? `${percent(back.share)} of its visitors are let in` : 'it comes back'}.`
}

const ACTS: Readonly<Record<CheckView['objects'][number]['act'], string>> = {
  left_out: 'Left out',
  paused: 'Paused',
  told: 'Told',
  let_in: 'Let in again',
  weights: 'Share changed',
  cap: 'Capped',
}
export const actedInWords = (act: keyof typeof ACTS): string => ACTS[act]

const REASONS: Readonly<Record<string, string>> = {
  days_incomplete: 'clicks of some days are still being counted',
  spend_not_read: 'an ad account could not be read',
  spend_by_day_only: 'the spend of a campaign is known by day alone',
  stop_line: 'above the stop line',
  explore_busy: 'the report was busy',
  left_out_limit: 'a campaign has 10,000 left-out values',
}
export const reasonInWords = (reason: string | null): string =>
  reason === null ? '' : (REASONS[reason] ?? reason.replaceAll('_', ' '))

/** A figure of a check, as the report shows it. */
export function figureInWords(figure: RuleFigure, value: string | number | null): string {
  if (value === null) return NONE
  const { unit } = figureOf(figure)
  if (unit === 'count') return count(Number(value))
  return unit === 'share' ? percent(Number(value)) : `$${moneyOrNone(String(value))}`
}

export const STATES = {
  watching: { words: 'Watching', tone: 'good' },
  waiting: { words: 'Waiting', tone: 'warn' },
  asking: { words: 'Asks', tone: 'accent' },
  failing: { words: 'Fails', tone: 'bad' },
} as const

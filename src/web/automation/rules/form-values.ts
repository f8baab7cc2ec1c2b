/** The fields of the form of a rule, and the request that they make. */
import type { UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import type { RuleDraft } from '../../../automation/rules/api.ts'
import { figureOf } from '../../../contract/figures.ts'
import type { RULE_FIELDS } from '../../../contract/rules.ts'
import type { RuleFigure, RuleView } from './words.ts'

export type RuleRequest = z.input<typeof RuleDraft>
/** A value as typed: shares are percent. `payouts`: a number of payouts. */
export type ConditionForm = { figure: RuleFigure | 'payouts'; is: 'above' | 'below'; value: string }

export type RuleForm = {
  name: string
  over: 'campaigns' | 'tag' | 'source'
  campaign_ids: string[]
  tag_id: string
  source_id: string
  value_of: (typeof RULE_FIELDS)[number] | ''
  when: ConditionForm[]
  hours: string
  newest: string
  clicks: string
  cost: string
  tells: boolean
  receiver_ids: string[]
  does: 'nothing' | 'leave_out' | 'pause' | 'weights' | 'cap'
  leads_to: string
  share: string
  limit: string
  period: 'day' | 'month' | 'total'
  every: '5' | '15' | '60' | 'day'
  at: string
  back: 'never' | 'when' | 'days'
  back_when: ConditionForm[]
  back_days: string
  back_share: string
  stop_percent: string
  stop_objects: string
}

export type RuleFormProps = { form: UseFormReturn<RuleForm, unknown, RuleRequest> }

export const BLANK_RULE: RuleForm = {
  name: '',
  over: 'campaigns',
  campaign_ids: [],
  tag_id: '',
  source_id: '',
  value_of: 'sub1',
  when: [{ figure: 'roi', is: 'below', value: '-40' }],
  hours: '72',
  newest: '3',
  clicks: '100',
  cost: '',
  tells: true,
  receiver_ids: [],
  does: 'leave_out',
  leads_to: '',
  share: '5',
  limit: '1000',
  period: 'day',
  every: '60',
  at: '09:00',
  back: 'never',
  back_when: [{ figure: 'roi', is: 'above', value: '-10' }],
  back_days: '7',
  back_share: '5',
  stop_percent: '20',
  stop_objects: '50',
}

const isShare = (figure: ConditionForm['figure']) => figure !== 'payouts' && figureOf(figure).unit === 'share'

/** Percent as a part of 1, without the errors of floating point. */
const partOf = (percent: string): number => Number((Number(percent) / 100).toFixed(6))
const percentOf = (part: number): string => String(Number((part * 100).toFixed(4)))

function requestOfCondition({ figure, is, value }: ConditionForm): RuleRequest['when'][number] {
  if (figure === 'payouts') return { figure: 'cost', is, times_payout: Number(value) }
  return { figure, is, value: isShare(figure) ? partOf(value) : value }
}

function formOfCondition(condition: RuleView['when'][number]): ConditionForm {
  if ('times_payout' in condition) return { figure: 'payouts', is: condition.is, value: String(condition.times_payout) }
  const { figure, is, value } = condition
  return { figure, is, value: isShare(figure) ? percentOf(Number(value)) : String(value) }
}

function actOf(form: RuleForm): RuleRequest['then'] {
  const { does, leads_to, share, limit, period } = form
  if (does === 'leave_out')
    return [{ type: does, ...(leads_to === '' ? {} : { leads_to: { type: 'offer', offer_id: leads_to } }) }]
  if (does === 'pause') return [{ type: does }]
  if (does === 'weights') return [{ type: does, share: partOf(share) }]
  return does === 'cap' ? [{ type: does, limit: Number(limit), period }] : []
}

function overOf({ over, campaign_ids, tag_id, source_id }: RuleForm): RuleRequest['over'] {
  if (over === 'tag') return { tag_id }
  return over === 'source' ? { traffic_source_id: source_id } : { campaign_ids }
}

function backOf({ does, back, back_when, back_days, back_share }: RuleForm): RuleRequest['back'] {
  if (back === 'never' || (does !== 'leave_out' && does !== 'pause')) return null
  if (back === 'when') return { when: back_when.map(requestOfCondition) }
  return { after_days: Number(back_days), share: does === 'pause' ? 1 : partOf(back_share) }
}

export function requestOfRule(form: RuleForm): RuleRequest {
  const { name, value_of, when, hours, newest, clicks, cost, tells, receiver_ids, every, at } = form
  return {
    name,
    over: overOf(form),
    value_of: value_of === '' ? null : value_of,
    when: when.map(requestOfCondition),
    window: { hours: Number(hours), leave_out_newest_hours: Number(newest) },
    at_least: { ...(clicks === '' ? {} : { clicks: Number(clicks) }), ...(cost === '' ? {} : { cost }) },
    then: [...(tells ? [{ type: 'tell' as const, receiver_ids }] : []), ...actOf(form)],
    every: every === 'day' ? every : every === '5' ? 5 : every === '15' ? 15 : 60,
    ...(every === 'day' ? { at } : {}),
    back: backOf(form),
    stop_line: { clicks_percent: Number(form.stop_percent), objects: Number(form.stop_objects) },
  }
}

const EVERY = { 5: '5', 15: '15', 60: '60', day: 'day' } as const

export function ruleFormOf(rule: RuleView): RuleForm {
  const { over, then, at_least, back, window } = rule
  const tell = then.find(act => act.type === 'tell')
  const does = then.find(act => act.type !== 'tell')
  return {
    ...BLANK_RULE,
    name: rule.name,
    over: 'tag_id' in over ? 'tag' : 'traffic_source_id' in over ? 'source' : 'campaigns',
    campaign_ids: 'campaign_ids' in over ? over.campaign_ids : [],
    tag_id: 'tag_id' in over ? over.tag_id : '',
    source_id: 'traffic_source_id' in over ? over.traffic_source_id : '',
    value_of: rule.value_of ?? '',
    when: rule.when.map(formOfCondition),
    hours: String(window.hours),
    newest: String(window.leave_out_newest_hours),
    clicks: at_least.clicks === undefined ? '' : String(at_least.clicks),
    cost: at_least.cost ?? '',
    tells: tell !== undefined,
    receiver_ids: tell?.type === 'tell' ? tell.receiver_ids : [],
    does: does?.type ?? 'nothing',
    ...(does?.type === 'leave_out' && does.leads_to?.type === 'offer' ? { leads_to: does.leads_to.offer_id } : {}),
    ...(does?.type === 'weights' ? { share: percentOf(does.share) } : {}),
    ...(does?.type === 'cap' ? { limit: String(does.limit), period: does.period } : {}),
    every: EVERY[rule.every],
    at: rule.at ?? BLANK_RULE.at,
    ...(back !== null && 'when' in back ? { back: 'when', back_when: back.when.map(formOfCondition) } : {}),
    ...(back !== null && 'after_days' in back
      ? { back: 'days', back_days: String(back.after_days), back_share: percentOf(back.share) }
      : {}),
    stop_percent: String(rule.stop_line.clicks_percent),
    stop_objects: String(rule.stop_line.objects),
  }
}

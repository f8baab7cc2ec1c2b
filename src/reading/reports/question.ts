/** Reads the query of a report, and the parts that the feed has too, with refusals in the order of the contract. */
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import {
  momentOf,
  type RawParameter,
  singleValue,
  type Window,
  windowBetween,
  windowWarnings,
} from '../../contract/window.ts'
import type { Warning } from '../../contract/warnings.ts'
import type { Key, Member } from '../../ground/room.ts'
import { isInScope } from '../../ground/scope.ts'
import { NO_ID } from '../../intake/counters/deltas.ts'
import { DIMENSIONS, type ReportDimension } from './api.ts'

export type ReportQuery = {
  readonly dimension?: RawParameter
  readonly date_from?: RawParameter
  readonly date_to?: RawParameter
  readonly campaign_id?: RawParameter
}

/** `campaigns` is null for all clicks of the organization, and empty where the caller sees none. */
export type ReportQuestion = {
  readonly dimension: ReportDimension
  readonly window: Window
  readonly campaigns: readonly string[] | null
}

/** The question of a query. Refuses `invalid_dimension`, `window_required`, `invalid_window`, `window_too_wide`. */
export function reportQuestionOf(actor: Member | Key, query: ReportQuery): ReportQuestion {
  const dimension = DIMENSIONS.find(known => known === singleValue(query.dimension, 'dimension', 'invalid_dimension'))
  if (dimension === undefined) refuse('invalid_dimension')
  return { dimension, window: reportWindowOf(query), campaigns: campaignsOf(actor, query.campaign_id) }
}

/** The window of a query. Refuses `window_required`, `invalid_window`, `window_too_wide`. */
export function reportWindowOf(query: Pick<ReportQuery, 'date_from' | 'date_to'>): Window {
  if (!query.date_from || !query.date_to) refuse('window_required')
  const from = momentOf(query.date_from, 'date_from')
  const to = momentOf(query.date_to, 'date_to')
  return windowBetween(from, to)
}

/** The campaigns of the query that the caller may see. A malformed, repeated or unknown id, or one outside the scope, yields no campaign instead of a refusal. */
export function campaignsOf(actor: Member | Key, sent: RawParameter): readonly string[] | null {
  if (sent === undefined) return actor.kind === 'key' ? actor.campaigns : null
  const id = typeof sent === 'string' ? toUuid(sent) : undefined
  return id !== undefined && id !== NO_ID && isInScope(actor, id) ? [id] : []
}

/** The warnings of a read: an end that is a date alone, and a campaign_id that no campaign can have. */
export function readWarnings({ date_to, campaign_id }: Pick<ReportQuery, 'date_to' | 'campaign_id'>): Warning[] {
  const warnings = windowWarnings(date_to)
  if (campaign_id === undefined || (typeof campaign_id === 'string' && toUuid(campaign_id) !== undefined))
    return warnings
  const sent = typeof campaign_id === 'string' ? JSON.stringify(campaign_id.slice(0, 50)) : 'a repeated campaign_id'
  const message = `${sent} is not the id of a campaign, so nothing is found. Send one id, or leave campaign_id out for all campaigns.`
  return [...warnings, { code: 'not_an_id', field: 'campaign_id', message }]
}

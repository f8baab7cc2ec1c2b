/**
 * Telling: the one way by which a room tells the receivers of a workspace something. Owns `alert_episodes`. Of all messages about the same thing only
 * the first is sent, until it is over; another one if it has grown by half since the last. What must stay true: an episode begins once and is over
 * once, whoever says so and however often.
 *
 * Call it in the transaction that makes the news true, so that both are committed or neither:
 *
 *   await tell(trx, actor.org_id, {
 *     kind: 'rule', phase: 'begins', episode_key: `rule ${rule.id} ${campaign_id} sub1=${zone}`,
 *     object: { kind: 'campaign', id: campaign_id, name: campaign.name }, rule: { id: rule.id, name: rule.name },
 *     figure: loss, text: 'Zone 12 of “Summer” lost $40.', figures: { cost: '60', revenue: '20' },
 *     url: `/automation/rules/${rule.id}`, receiver_ids: action.receiver_ids,
 *   })
 *
 * Call it with `begins` each time the thing is found to be so: repeating it is a no-op, unless `figure` says that it has grown. Call it with `over` and
 * the same key once it is no longer so: a no-op unless an episode is open. `asks` is told once per key.
 */
import type { Kysely } from 'kysely'
import type { AlertBody, AlertCause, AlertKind, AlertPhase } from '../../contract/alerts.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { queueMessage, receiversOf } from '../receivers/queue.ts'

/** Told again when the figure is this many times as large as when it was last told. */
export const GROWN = 1.5

/** Ids are uuids. */
export type Alert = {
  readonly kind: AlertKind
  /** `grows` is the same as `begins`: the open episode and `figure` decide which of the two it is. */
  readonly phase: AlertPhase
  /** Names what the episode is about, and the rule if there is one. The same key means the same episode, as long as that is open. */
  readonly episode_key: string
  readonly object: { readonly kind: string; readonly id: string | null; readonly name: string | null }
  readonly rule: { readonly id: string; readonly name: string } | null
  /** How bad it is, a positive decimal that is larger the worse it is. Without one the episode never grows. */
  readonly figure?: string | undefined
  /** One or two sentences, without secrets and without full addresses. */
  readonly text: string
  readonly figures: Readonly<Record<string, unknown>>
  readonly causes?: readonly AlertCause[]
  /** The path of the page in the dashboard, beginning with `/`. */
  readonly url: string
  /** Only these; undefined: all receivers that are told about the kind. Unknown ones are left out. */
  readonly receiver_ids?: readonly string[] | undefined
  /** The moment by the clock of this process; default: now. */
  readonly at?: string
}

type Episode = { readonly id: string; readonly figure: string | null; readonly messages: number }

/**
 * Tells the receivers, and returns whether a message was queued. Nothing is told, and no episode begins, if no receiver is told about the kind, or the
 * kind is switched off in the settings of alerts.
 */
export async function tell(trx: Kysely<Tables>, org_id: number, alert: Alert): Promise<boolean> {
  const { kind, phase, episode_key, receiver_ids } = alert
  const open = await openEpisode(trx, org_id, episode_key)
  if (phase === 'over') return open !== undefined && (await end(trx, org_id, alert, open))
  if (open !== undefined && !hasGrown(open, alert)) return false
  if (await isOff(trx, org_id, kind)) return false
  const receivers = await receiversOf(trx, org_id, { kind, only: receiver_ids })
  if (receivers.length === 0) return false
  const at = alert.at ?? new Date().toISOString()
  if (open === undefined) {
    const begun = await begin(trx, org_id, alert, at)
    if (begun === undefined) return false
    await queueMessage(
      trx,
      org_id,
      receivers,
      bodyOf({ ...alert, phase: phase === 'asks' ? phase : 'begins' }, begun, at),
    )
    return true
  }
  const grown = { ...open, messages: open.messages + 1 }
  await trx
    .updateTable('alert_episodes')
    .set({ figure: alert.figure ?? null, told_at: at, messages: grown.messages })
    .where('org_id', '=', org_id)
    .where('id', '=', open.id)
    .execute()
  await queueMessage(trx, org_id, receivers, bodyOf({ ...alert, phase: 'grows' }, grown, at))
  return true
}

/** Whether `tell` would begin an episode or let it grow, as far as it can be known before. For alerts whose causes take long to find. */
export async function isNews(db: Kysely<Tables>, org_id: number, alert: Alert): Promise<boolean> {
  const open = await db
    .selectFrom('alert_episodes')
    .select(['id', 'figure', 'messages'])
    .where('org_id', '=', org_id)
    .where('key', '=', alert.episode_key)
    .where('over_at', 'is', null)
    .executeTakeFirst()
  return open === undefined || hasGrown(open, alert)
}

/** The open episode of the key, locked until the end of the transaction. */
async function openEpisode(trx: Kysely<Tables>, org_id: number, key: string): Promise<Episode | undefined> {
  return await trx
    .selectFrom('alert_episodes')
    .select(['id', 'figure', 'messages'])
    .where('org_id', '=', org_id)
    .where('key', '=', key)
    .where('over_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
}

const hasGrown = (open: Episode, { figure, phase }: Alert): boolean =>
  phase !== 'asks' && open.figure !== null && figure !== undefined && Number(figure) >= GROWN * Number(open.figure)

/** Whether the workspace has switched the kind off. */
async function isOff(trx: Kysely<Tables>, org_id: number, kind: AlertKind): Promise<boolean> {
  const row = await trx.selectFrom('alert_settings').select('off_kinds').where('org_id', '=', org_id).executeTakeFirst()
  return row?.off_kinds.includes(kind) === true
}

/** Undefined if another process has begun the episode at the same time. */
async function begin(trx: Kysely<Tables>, org_id: number, alert: Alert, at: string): Promise<Episode | undefined> {
  const { kind, episode_key: key, object, rule, figure = null } = alert
  const episode = { id: newId(), figure, messages: 1 }
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('alert_episodes')
    .values({
      org_id,
      ...episode,
      key,
      kind,
      rule_id: rule?.id ?? null,
      object_kind: object.kind,
      object_id: object.id,
      object_name: object.name,
      began_at: at,
      told_at: at,
    })
    .onConflict(on => on.columns(['org_id', 'key']).where('over_at', 'is', null).doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n ? episode : undefined
}

/** Ends the episode, and tells that unless the kind is switched off by now. */
async function end(trx: Kysely<Tables>, org_id: number, alert: Alert, open: Episode): Promise<boolean> {
  const at = alert.at ?? new Date().toISOString()
  const over = { ...open, messages: open.messages + 1 }
  await trx
    .updateTable('alert_episodes')
    .set({ over_at: at, told_at: at, messages: over.messages })
    .where('org_id', '=', org_id)
    .where('id', '=', open.id)
    .execute()
  if (await isOff(trx, org_id, alert.kind)) return false
  const receivers = await receiversOf(trx, org_id, { kind: alert.kind, only: alert.receiver_ids })
  if (receivers.length === 0) return false
  await queueMessage(trx, org_id, receivers, bodyOf(alert, over, at))
  return true
}

/** Ends the open episodes of a rule that is deleted, without a message. */
export async function endEpisodesOf(trx: Kysely<Tables>, org_id: number, rule_id: string): Promise<void> {
  await trx
    .updateTable('alert_episodes')
    .set({ over_at: new Date().toISOString() })
    .where('org_id', '=', org_id)
    .where('rule_id', '=', rule_id)
    .where('over_at', 'is', null)
    .execute()
}

function bodyOf(alert: Alert, { id, messages }: Episode, at: string) {
  const { kind, phase, object, rule, text, figures, causes = [], url } = alert
  const body: AlertBody = {
    type: kind,
    phase,
    episode: toWireId(id),
    object: { ...object, id: object.id === null ? null : toWireId(object.id) },
    rule: rule === null ? null : { ...rule, id: toWireId(rule.id) },
    text,
    figures,
    causes,
    at,
    url,
  }
  return { episode_id: id, number: messages, body, at }
}

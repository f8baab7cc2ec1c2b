/** What rules tell receivers: that an object fulfils the conditions, that it no longer does, and that a rule asks. Reads `alert_episodes`. */
import { toWireId } from '../../contract/ids.ts'
import { tell } from '../alerts/tell.ts'
import type { RuleCheck } from './api.ts'
import type { Acting, DoneAct } from './acts.ts'
import { type JudgedObject, keyOfObject } from './figures.ts'
import type { RuleRow } from './stored.ts'

type Telling = Pick<Acting, 'trx' | 'place' | 'now_ms'> & {
  readonly rule: RuleRow
  /** By the campaign's uuid. */
  readonly names: ReadonlyMap<string, string>
}

const keyFor = ({ rule }: Telling, object: Parameters<typeof keyOfObject>[0]) =>
  `rule ${rule.id} ${keyOfObject(object)}`
const asksKey = (check_id: string) => `rule asks ${check_id}`
const isObjectField = (field: string) => field === 'landing' || field === 'offer'
const RULE_KEY = /^rule \S+ \[/

/** The receivers that the rule tells; undefined: all that are told about rules, `null`: the rule tells nobody. */
function receiversFor({ definition }: RuleRow): readonly string[] | undefined | null {
  const act = definition.then.find(({ type }) => type === 'tell')
  if (act?.type !== 'tell') return null
  return act.receiver_ids.length === 0 ? undefined : act.receiver_ids
}

const common = ({ rule, now_ms }: Telling) => ({
  kind: 'rule' as const,
  rule: { id: rule.id, name: rule.name },
  receiver_ids: receiversFor(rule) ?? undefined,
  url: `/automation/rules/${toWireId(rule.id)}`,
  at: new Date(now_ms).toISOString(),
})

const campaignOf = ({ names }: Telling, { campaign_id }: JudgedObject) => ({
  kind: 'campaign',
  id: campaign_id,
  name: names.get(campaign_id) ?? null,
})

function inWords(telling: Telling, object: JudgedObject): string {
  const { field, label, figures } = object
  const { clicks, conversions, cost, revenue } = figures
  const what = field === null ? '' : `${field} ${label ?? object.value} of `
  const money = cost === null ? `revenue $${revenue}` : `cost $${cost}, revenue $${revenue}`
  return `${telling.rule.name}: ${what}“${telling.names.get(object.campaign_id) ?? ''}” has ${clicks} clicks, ${conversions} conversions, ${money}.`
}

/** Tells each object that fulfils the conditions, once per episode, and returns those that were told. */
export async function tellMet(telling: Telling, met: readonly JudgedObject[]): Promise<DoneAct[]> {
  if (receiversFor(telling.rule) === null) return []
  const told: DoneAct[] = []
  for (const object of met) {
    const { campaign_id, field, value, figures } = object
    const loss = figures.profit === null ? 0 : -Number(figures.profit)
    const wasTold = await tell(telling.trx, telling.place.org_id, {
      ...common(telling),
      phase: 'begins',
      episode_key: keyFor(telling, { campaign_id, field, value }),
      object: campaignOf(telling, object),
      ...(loss > 0 ? { figure: loss.toFixed(6) } : {}),
      text: inWords(telling, object),
      figures: { field, value, ...figures },
    })
    if (wasTold) told.push({ ...object, act: 'told', of: null })
  }
  return told
}

/** Ends the episodes of objects that no longer fulfil the conditions. */
export async function tellOver(telling: Telling, met: readonly JudgedObject[]): Promise<void> {
  const { trx, place, rule } = telling
  const open = await trx
    .selectFrom('alert_episodes')
    .select(['key', 'object_id', 'object_name'])
    .where('org_id', '=', place.org_id)
    .where('rule_id', '=', rule.id)
    .where('over_at', 'is', null)
    .execute()
  const still = new Set(met.map(object => keyFor(telling, object)))
  for (const { key, object_id, object_name } of open) {
    if (!RULE_KEY.test(key) || still.has(key)) continue
    const [, field = '', value = ''] = JSON.parse(key.slice(key.indexOf('['))) as string[]
    // Landings and offers have no name here.
    const what = field === '' || isObjectField(field) ? '' : `${field} ${value} of `
    await tell(trx, place.org_id, {
      ...common(telling),
      phase: 'over',
      episode_key: key,
      object: { kind: 'campaign', id: object_id, name: object_name },
      text: `${rule.name}: this is over for ${what}“${object_name ?? ''}”.`,
      figures: field === '' ? {} : { field, value },
    })
  }
}

/** Tells that the rule asks before it acts on so many objects. */
export async function tellAsked(telling: Telling, check_id: string, objects: RuleCheck['objects']): Promise<void> {
  const { trx, place, rule } = telling
  await tell(trx, place.org_id, {
    ...common(telling),
    phase: 'asks',
    episode_key: asksKey(check_id),
    object: { kind: 'rule', id: rule.id, name: rule.name },
    text: `${rule.name} would act on ${objects.length} ${objects.length === 1 ? 'object' : 'objects'}, which is above its stop line. Confirm it, or change the rule.`,
    figures: { objects: objects.length },
  })
}

/** Ends the episode of a check that asked, once it is confirmed. */
export async function tellConfirmed(telling: Telling, check_id: string): Promise<void> {
  const { trx, place, rule } = telling
  await tell(trx, place.org_id, {
    ...common(telling),
    phase: 'over',
    episode_key: asksKey(check_id),
    object: { kind: 'rule', id: rule.id, name: rule.name },
    text: `${rule.name} was confirmed.`,
    figures: {},
  })
}

// The demo's traffic sources: push networks, and the postback rule of one, which waits for a value of the account there.
import type { Transaction } from 'kysely'
import { DAY_MS, dayOf } from '../src/contract/days.ts'
import { NIL_ID } from '../src/contract/ids.ts'
import { sourceTemplateOf } from '../src/contract/source-templates/all.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import type { Founding, Standing } from './objects.ts'
import type { Place } from './traffic.ts'

const TEMPLATES = ['propellerads', 'richads'] as const

/** Inserts the sources. Returns the source of a push campaign by the campaign's name. */
export async function placeSources(
  { trx, org_id, nextId, times }: Founding,
  standing: Standing,
): Promise<(campaign: string) => string> {
  const [propeller, rich] = TEMPLATES.map(template => {
    const source = sourceTemplateOf(template)
    const parameters = (source?.parameters ?? []).map(([field, macro, label = null, parameter = field]) => ({
      field,
      parameter,
      macro,
      label,
    }))
    const [name, postback] = [source?.name ?? template, source?.postback ?? '']
    return { id: nextId(), name, template, parameters, postback, cost_unit: source?.cost_unit ?? null }
  })
  if (propeller === undefined || rich === undefined) throw new Error('the demo has two traffic sources')
  for (const { id, name, template, parameters, cost_unit } of [propeller, rich]) {
    const row = { org_id, id, name, template, cost_unit, cost_currency: 'USD', ...times }
    await trx
      .insertInto('traffic_sources')
      .values({ ...row, parameters: JSON.stringify(parameters) })
      .execute()
    standing.put({ org_id, id, parameters, cost_unit, cost_currency: row.cost_currency, is_deleted: false })
  }
  await trx
    .insertInto('postback_rules')
    .values({
      org_id,
      id: nextId(),
      event_type: 'deposit',
      url: propeller.postback,
      method: 'GET',
      campaign_id: NIL_ID,
      traffic_source_id: propeller.id,
      preset: null,
      active: false,
      once_per_person: false,
      ...times,
    })
    .execute()
  return campaign => (campaign.startsWith('RichAds') ? rich.id : propeller.id)
}

/** The share of a day's clicks with an unreplaced macro. */
const UNFILLED = 37

/** Inserts counts of a macro in a push campaign's link that its source does not fill. */
export async function insertUnfilledMacros(
  trx: Transaction<Tables>,
  { org_id, now }: { org_id: number; now: number },
  places: readonly Place[],
): Promise<void> {
  const place = places.find(({ campaign }) => campaign.name.startsWith('RichAds'))
  if (place === undefined) throw new Error('the demo has a campaign of RichAds')
  const fault = { field: 'sub3', fault: 'unreplaced', parameter: 'sub3', value: '[CAMPAIGN]', clicks: String(UNFILLED) }
  const days = [0, 1].map(ago => dayOf(now - ago * DAY_MS))
  await trx
    .insertInto('source_faults')
    .values(days.map(day => ({ org_id, campaign_id: place.campaign_id, day, ...fault })))
    .execute()
}

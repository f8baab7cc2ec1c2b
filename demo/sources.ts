// The traffic sources of the demo: push networks, and the postback of one, which waits for what its account there says.
import { NIL_ID } from '../src/contract/ids.ts'
import { factsOf } from '../src/contract/source-templates/all.ts'
import type { Founding, Standing } from './objects.ts'

const TEMPLATES = ['propellerads', 'richads'] as const

/** Makes the sources; answers the one that a push campaign of that name buys from. */
export async function placeSources(
  { trx, org_id, nextId, times }: Founding,
  standing: Standing,
): Promise<(campaign: string) => string> {
  const [propeller, rich] = TEMPLATES.map(template => {
    const facts = factsOf(template)
    const parameters = (facts?.parameters ?? []).map(([field, macro, label = null, parameter = field]) => ({
      field,
      parameter,
      macro,
      label,
    }))
    const [name, postback] = [facts?.name ?? template, facts?.postback ?? '']
    return { id: nextId(), name, template, parameters, postback, cost_unit: facts?.cost_unit ?? null }
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

/**
 * The warnings after a write of a click flow: conditions that match nobody, unknown macros, and campaigns without a fallback. They do not prevent
 * publishing.
 */
import { type Kysely, sql } from 'kysely'
import { COUNTRIES, likelyCountry } from '../../contract/countries.ts'
import { macroWarnings, type Warning } from '../../contract/warnings.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { unknownMacros } from '../addresses/preview.ts'
import type { FlowNode, Graph } from './api.ts'
import { nameOf } from './validate.ts'

/** Values in a graph that are probably mistakes. */
export function graphWarnings({ nodes }: Graph): Warning[] {
  return nodes.flatMap((node, at) => {
    const field = `graph.nodes.${at}`
    const macros = node.type === 'redirect' ? macroWarnings(`${field}.url`, unknownMacros(node.url ?? null)) : []
    return [...countryWarnings(node, `${field}.values`), ...macros].map(warning => ({
      ...warning,
      message: `Node ${nameOf(node)}: ${warning.message}`,
    }))
  })
}

/** Two letters that are no country code. Texts of another length are a problem, not a warning. */
function countryWarnings({ type, field: conditionField, values }: FlowNode, field: string): Warning[] {
  if (type !== 'condition' || conditionField !== 'geo') return []
  const codes = (values ?? []).filter(value => /^[a-z]{2}$/i.test(value) && !COUNTRIES.has(value.toUpperCase()))
  return codes.slice(0, 5).map(code => {
    const likely = likelyCountry(code)
    const advice =
      likely === undefined ? 'Write the ISO code, such as DE.' : `Did you mean ${likely} (${COUNTRIES.get(likely)})?`
    return { code: 'unknown_country', field, message: `no visitor comes from ${code}. ${advice}` }
  })
}

/** The campaigns that lead to a live flow and have no fallback. Reads `campaigns`. */
export async function fallbackWarnings(db: Kysely<Tables>, org_id: number, id: string): Promise<Warning[]> {
  const campaigns = await db
    .selectFrom('campaigns')
    .select('name')
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where('status', '=', 'active')
    .where('fallback_url', 'is', null)
    .where(sql<boolean>`destination ->> 'type' = 'click_flow' and destination ->> 'click_flow_id' = ${id}`)
    .orderBy('id')
    .execute()
  if (campaigns.length === 0) return []
  const named = campaigns.slice(0, 3).map(({ name }) => name)
  const more = campaigns.length > named.length ? ` and ${campaigns.length - named.length} more` : ''
  return [
    {
      code: 'no_fallback',
      field: 'campaigns',
      message: `Campaigns without a fallback: ${named.join(', ')}${more}. Visitors that the flow cannot take have nowhere to go. Give the campaigns a fallback (fallback_url).`,
    },
  ]
}

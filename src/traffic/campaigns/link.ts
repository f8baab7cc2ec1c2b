/**
 * The link of a campaign: on its domain, with the macros of its traffic source. And the other direction: the parameter names that its clicks
 * arrive with. Owns no table. Reads `traffic_sources`, and domains through their room.
 */
import type { Kysely } from 'kysely'
import { sourceTemplateOf } from '../../contract/source-templates/all.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { unknownMacros } from '../addresses/preview.ts'
import { domainAddresses } from '../domains/addresses.ts'
import type * as api from './api.ts'
import { apiDestination, type DestinationAndOffer } from './destination.ts'

/** A parameter of a traffic source: the field it fills, its name in the URL, and the source's macro for it. */
export type LinkParameter = {
  readonly field: string
  readonly parameter: string
  readonly macro: string | null
  readonly label?: string | null
}

type Source = { readonly id: string; readonly name: string; readonly parameters: readonly LinkParameter[] }
/** The parameter name of each field. */
type ParameterNames = Readonly<Record<string, string | undefined>>

/** A campaign's row in the database. */
export type CampaignRow = Omit<api.Campaign, 'url' | 'filled_url' | 'unknown_macros' | 'destination'> &
  DestinationAndOffer

type LinkContext = Pick<Context<typeof api.updateCampaign>, 'db' | 'actor' | 'origin'>

/** The campaigns with their links: on their domain, or else under BASE_URL, or the origin that the caller used, or only the path. */
export async function withLinks(
  { db, actor, origin }: LinkContext,
  rows: readonly CampaignRow[],
): Promise<api.Campaign[]> {
  const [sources, addressOf] = await Promise.all([sourcesOf(db, actor.org_id, rows), domainAddresses(db, actor.org_id)])
  return rows.map(row => {
    const destination = apiDestination(row)
    const unknown_macros = unknownMacros(destination.type === 'redirect' ? destination.url : null, row.fallback_url)
    const address = addressOf(row.domain_id)
    const url = urlOf(address?.origin ?? origin, row)
    const filled_url = linkOf(url, parametersOf(row.source, sources.get(row.traffic_source_id ?? '')))
    return { ...row, domain_id: address?.id ?? null, destination, url, filled_url, unknown_macros }
  })
}

/** The link of one campaign, with its parameters and source. */
export async function campaignLink({ db, actor, origin }: LinkContext, row: CampaignRow) {
  const source = (await sourcesOf(db, actor.org_id, [row])).get(row.traffic_source_id ?? '')
  const address = (await domainAddresses(db, actor.org_id))(row.domain_id)
  const parameters = parametersOf(row.source, source)
  return {
    url: linkOf(urlOf(address?.origin ?? origin, row), parameters),
    parameters,
    traffic_source: source === undefined ? null : { id: source.id, name: source.name },
    has_fragment: parameters.some(({ macro }) => macro.includes('#')),
  }
}

/** The parameter names of a campaign, beside the fields' own names. The campaign's names override its source's. */
export function namesOf(own: ParameterNames, source: Pick<Source, 'parameters'> | undefined): ParameterNames {
  const ofSource = source?.parameters.map(({ field, parameter }) => [field, parameter])
  return { ...(ofSource && Object.fromEntries(ofSource)), ...own }
}

const urlOf = (origin: string | undefined, { key }: Pick<CampaignRow, 'key'>): string => `${origin ?? ''}/c/${key}`

// Not percent-encoded, because sources look for their macros literally.
const linkOf = (url: string, parameters: readonly { parameter: string; macro: string }[]): string =>
  parameters.length === 0
    ? url
    : `${url}?${parameters.map(({ parameter, macro }) => `${parameter}=${macro}`).join('&')}`

/** The parameters in the link, in the source's order. A campaign without a source may have a template, whose cost parameters are left out. */
function parametersOf(own: ParameterNames & { readonly template?: string | undefined }, source: Source | undefined) {
  const parameters: readonly LinkParameter[] =
    source?.parameters ??
    (sourceTemplateOf(own.template)?.parameters ?? [])
      .filter(([field]) => field !== 'cost' && field !== 'currency')
      .map(([field, macro]) => ({ field, parameter: field, macro }))
  return parameters.flatMap(({ field, parameter, macro }) =>
    macro === null ? [] : [{ field, parameter: own[field] ?? parameter, macro }],
  )
}

/** The traffic sources of the campaigns, by id. */
async function sourcesOf(
  db: Kysely<Tables>,
  org_id: number,
  rows: readonly CampaignRow[],
): Promise<Map<string, Source>> {
  const ids = [...new Set(rows.flatMap(({ traffic_source_id }) => traffic_source_id ?? []))]
  if (ids.length === 0) return new Map()
  const found = await db
    .selectFrom('traffic_sources')
    .select(['id', 'name', 'parameters'])
    .where('org_id', '=', org_id)
    .where('id', 'in', ids)
    .$castTo<Source>()
    .execute()
  return new Map(found.map(source => [source.id, source]))
}

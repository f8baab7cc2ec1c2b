/**
 * What a campaign is shown with beside its columns: its address, and the link for the ads that its traffic source fills. And under which names
 * its clicks arrive, which is the other side of it. Owns no table. Reads `traffic_sources` and, through the room of domains,
 * under which name.
 */
import type { Kysely } from 'kysely'
import { factsOf } from '../../contract/source-templates/all.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { unknownMacros } from '../addresses/preview.ts'
import { domainAddresses } from '../domains/addresses.ts'
import type * as api from './api.ts'
import { type Leading, shownDestination } from './destination.ts'

/** A parameter of a traffic source: the field it fills, the name it arrives under, and the macro that stands for it in the address. */
export type Filling = { readonly field: string; readonly parameter: string; readonly macro: string | null }

type Source = { readonly id: string; readonly name: string; readonly parameters: readonly Filling[] }
/** By our fields, under which name each arrives. */
type Names = Readonly<Record<string, string | undefined>>

/** A campaign's row as its deeds read it. */
export type Row = Omit<api.Campaign, 'url' | 'filled_url' | 'unknown_macros' | 'destination'> & Leading

type Asking = Pick<Context<typeof api.updateCampaign>, 'db' | 'actor' | 'origin'>

/** The campaigns with the address traffic is sent to: on their domain, else under BASE_URL, where the caller reached us, or the path alone. */
export async function addressed({ db, actor, origin }: Asking, rows: readonly Row[]): Promise<api.Campaign[]> {
  const [sources, addressOf] = await Promise.all([sourcesOf(db, actor.org_id, rows), domainAddresses(db, actor.org_id)])
  return rows.map(row => {
    const destination = shownDestination(row)
    const unknown_macros = unknownMacros(destination.type === 'redirect' ? destination.url : null, row.fallback_url)
    const address = addressOf(row.domain_id)
    const url = urlOf(address?.origin ?? origin, row)
    const filled_url = linkOf(url, filled(row.source, sources.get(row.traffic_source_id ?? '')))
    return { ...row, domain_id: address?.id ?? null, destination, url, filled_url, unknown_macros }
  })
}

/** The link of one campaign, with what it is made of. */
export async function shownLink({ db, actor, origin }: Asking, row: Row) {
  const source = (await sourcesOf(db, actor.org_id, [row])).get(row.traffic_source_id ?? '')
  const address = (await domainAddresses(db, actor.org_id))(row.domain_id)
  const parameters = filled(row.source, source)
  return {
    url: linkOf(urlOf(address?.origin ?? origin, row), parameters),
    parameters,
    traffic_source: source === undefined ? null : { id: source.id, name: source.name },
    has_fragment: parameters.some(({ macro }) => macro.includes('#')),
  }
}

/** Under which name each field of a campaign's clicks arrives beside its own: the campaign's names go before its source's. */
export function namesOf(own: Names, source: Pick<Source, 'parameters'> | undefined): Names {
  const named = source?.parameters.map(({ field, parameter }) => [field, parameter])
  return { ...(named && Object.fromEntries(named)), ...own }
}

const urlOf = (origin: string | undefined, { key }: Pick<Row, 'key'>): string => `${origin ?? ''}/c/${key}`

// Raw: sources look for their macros literally.
const linkOf = (url: string, parameters: readonly { parameter: string; macro: string }[]): string =>
  parameters.length === 0
    ? url
    : `${url}?${parameters.map(({ parameter, macro }) => `${parameter}=${macro}`).join('&')}`

/** What stands in the link, in the source's order. A campaign without a source may name a template instead, of what is kept with the click. */
function filled(own: Names & { readonly template?: string | undefined }, source: Source | undefined) {
  const fillings: readonly Filling[] =
    source?.parameters ??
    (factsOf(own.template)?.parameters ?? [])
      .filter(([field]) => field !== 'cost' && field !== 'currency')
      .map(([field, macro]) => ({ field, parameter: field, macro }))
  return fillings.flatMap(({ field, parameter, macro }) =>
    macro === null ? [] : [{ field, parameter: own[field] ?? parameter, macro }],
  )
}

/** The sources that the campaigns name, by their ids. */
async function sourcesOf(db: Kysely<Tables>, org_id: number, rows: readonly Row[]): Promise<Map<string, Source>> {
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

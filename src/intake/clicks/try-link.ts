/**
 * "What would you read?": an address as a visitor opens it, read as the campaign's clicks are, field by field with why. Records nothing: no
 * click, and nothing among what a source left unfilled. Reads `campaigns` and `traffic_sources`, as this process serves them.
 */
import type { z } from 'zod'
import type { Call } from '../../contract/endpoint.ts'
import { AD_IDS } from '../../contract/fields.ts'
import { refuse } from '../../contract/refusals.ts'
import { factsOf } from '../../contract/source-templates/all.ts'
import { TEXT_BYTES } from '../../contract/texts.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { type LinkParameter, namesOf } from '../../traffic/campaigns/link.ts'
import type { LiveCampaigns } from '../../traffic/campaigns/live.ts'
import { domainAddresses } from '../../traffic/domains/addresses.ts'
import type * as api from './api.ts'
import type { Traffic } from './course.ts'
import { isConstant, trafficOf } from './decide.ts'
import { isUnreplaced, NOTHING, type Parameters } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'
import { TEST_PARAMETER } from './redirect.ts'

type Live = Pick<LiveCampaigns, 'campaign' | 'object' | 'refresh'>
type ReadField = z.output<typeof api.ReadField>
/** What came under a name, and what of it is kept. */
type Heard = {
  readonly field: string
  readonly parameter: string
  readonly sent: string
  readonly value: string | null
}

/** The deed of `POST /api/campaigns/:id/try-link`. Refuses `object_not_found`, and `invalid_request` for another campaign's address. */
export function linkTrier(live: Live, usdPerUnit: UsdPerUnit) {
  return async (context: Context<typeof api.tryLink>, { params, body }: Call<typeof api.tryLink>) => {
    const { actor } = context
    const id = idOf(params.id)
    await live.refresh({ org_id: actor.org_id, id })
    const campaign = live.campaign(id)
    if (campaign?.org_id !== actor.org_id || campaign.is_deleted) refuse('object_not_found')
    const traffic = trafficOf(campaign, live)
    const fillings = fillingsOf(traffic)
    const url = body.url ?? sampleOf(`${await originOf(context, id)}/c/${campaign.key}`, traffic, fillings)
    const key = /\/c\/([^/?#]*)/i.exec(url.split('?', 1)[0] ?? '')?.[1]
    if (key !== undefined && key.toLowerCase() !== campaign.key)
      refuse('invalid_request', {
        error: `the address is another campaign's: /c/${key}`,
        hint: `This campaign's is /c/${campaign.key}.`,
      })
    return { url, ...readAs(traffic, fillings, url, usdPerUnit) }
  }
}

/** Under which name the campaign is shown: nothing where only the browser knows. */
async function originOf({ db, actor, origin }: Context<typeof api.tryLink>, id: string): Promise<string> {
  const [campaign, addressOf] = await Promise.all([
    db
      .selectFrom('campaigns')
      .select('domain_id')
      .where('org_id', '=', actor.org_id)
      .where('id', '=', id)
      .executeTakeFirst(),
    domainAddresses(db, actor.org_id),
  ])
  return addressOf(campaign?.domain_id ?? null)?.origin ?? origin ?? ''
}

function readAs(traffic: Traffic, fillings: readonly LinkParameter[], url: string, usdPerUnit: UsdPerUnit) {
  const opened = asOpened(url)
  const heard: Heard[] = []
  const parameters = traffic.read(opened, (field, parameter, sent, value) =>
    heard.push({ field, parameter, sent, value }),
  )
  const cost = traffic.costOf?.(parameters, Date.now(), usdPerUnit)
  const came = namesIn(opened)
  const named = fillings.map(({ field, parameter }) => ({ field, parameter }))
  const others = new Set(heard.map(({ field }) => field).filter(field => named.every(one => one.field !== field)))
  const fields = [...named, ...Array.from(others, field => ({ field, parameter: field }))].map(
    ({ field, parameter }) => {
      const read = becameOf(field, parameters, heard)
      if (read === undefined) return notHeard(field, parameter, came, traffic)
      return field === 'cost' && read.value !== null && cost?.cost == null
        ? { ...read, state: 'unreadable' as const }
        : read
    },
  )
  const known = new Set([...fields, ...heard].map(({ parameter }) => parameter))
  return {
    fields,
    unknown: Array.from(came, ([parameter, sent]) => ({ parameter, sent })).filter(
      ({ parameter }) => parameter !== '' && parameter !== TEST_PARAMETER && !known.has(parameter),
    ),
    cost: cost === undefined ? null : { usd: cost.cost, original: cost.cost_original, currency: cost.cost_currency },
  }
}

/** What became of a field that something came for: what is kept, else the first that came. */
function becameOf(field: string, parameters: Parameters, heard: readonly Heard[]): ReadField | undefined {
  const value = parameters[field as keyof Parameters] ?? null
  const own = heard.filter(one => one.field === field)
  const first = own.find(one => one.value !== null && one.value === value) ?? own[0]
  if (first === undefined) return undefined
  const { parameter, sent } = first
  return { field, parameter, sent, value, state: stateOf(first, value) }
}

/** Cost and currency are looked for only where the campaign's cost model takes them from the link. */
function notHeard(
  field: string,
  parameter: string,
  came: ReadonlyMap<string, string>,
  { campaign }: Traffic,
): ReadField {
  const isUnused = (field === 'cost' || field === 'currency') && campaign.cost?.model !== 'link'
  const sent = isUnused ? (came.get(parameter) ?? null) : null
  return { field, parameter, sent, value: null, state: sent === null ? 'not_sent' : 'unused' }
}

function stateOf({ field, sent }: Heard, value: string | null): ReadField['state'] {
  if (value !== null) return 'read'
  if (NOTHING.has(sent)) return 'empty'
  if (isUnreplaced(sent)) return 'unreplaced'
  if (field === 'ref_id' && Buffer.byteLength(sent) > TEXT_BYTES) return 'too_long'
  return adIds.has(field) ? 'unusable' : 'unreplaced'
}

const adIds: ReadonlySet<string> = new Set(AD_IDS)

/** As a browser sends it: what is no ASCII percent-encoded, and nothing behind a `#`. */
const asOpened = (url: string): string =>
  (url.split('#', 1)[0] ?? '').toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)

/** The parameters of an address by their names, the first of each. */
function namesIn(opened: string): ReadonlyMap<string, string> {
  const start = opened.indexOf('?') + 1
  const names = new Map<string, string>()
  for (const [sent, value] of new URLSearchParams(start === 0 ? '' : opened.slice(start))) {
    const name = sent.replace(/^(\?|amp;)+/, '')
    if (!names.has(name)) names.set(name, value)
  }
  return names
}

/** What the campaign's address holds for its source to fill in, and what the source appends by itself. */
function fillingsOf({ campaign, source }: Traffic): LinkParameter[] {
  const names = namesOf(campaign.source, source)
  const template = factsOf(campaign.source['template'])?.parameters.map(([field, macro]) => ({ field, macro }))
  const isLink = campaign.cost?.model === 'link'
  const usual = ['ref_id', 'sub1', ...(isLink ? ['cost'] : [])].map(field => ({ field, macro: null }))
  const fillings: readonly Omit<LinkParameter, 'parameter'>[] = source?.parameters ?? template ?? usual
  return fillings.map(({ field, macro }) => ({ field, macro, parameter: names[field] ?? field }))
}

/** The address as a source would open it, with values that tell what they stand for. */
function sampleOf(url: string, { source }: Traffic, fillings: readonly LinkParameter[]): string {
  const samples: Readonly<Record<string, string>> = { cost: '0.01', currency: source?.cost_currency ?? 'USD' }
  const filled = fillings.map(({ field, parameter, macro }) => {
    const value = macro !== null && isConstant(macro) ? macro : (samples[field] ?? `sample-${field.replace('_', '-')}`)
    return `${encodeURIComponent(parameter)}=${value}`
  })
  return `${url}?${filled.join('&')}`
}

/**
 * Tests a campaign link: reads a URL as the campaign's clicks are read, and says for each field what is stored and why. Records nothing, neither
 * a click nor an unreplaced macro. Reads `campaigns` and `traffic_sources` from this process's memory.
 */
import type { z } from 'zod'
import { isUnreplaced, NOTHING } from '../../contract/unreplaced.ts'
import type { Call } from '../../contract/endpoint.ts'
import { AD_IDS } from '../../contract/ad-platforms.ts'
import { refuse } from '../../contract/refusals.ts'
import { sourceTemplateOf } from '../../contract/source-templates/all.ts'
import { TEXT_BYTES } from '../../contract/texts.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { type LinkParameter, namesOf } from '../../traffic/campaigns/link.ts'
import type { LiveCampaigns } from '../../traffic/campaigns/live.ts'
import { domainAddresses } from '../../traffic/domains/addresses.ts'
import type * as api from './api.ts'
import type { CompiledCampaign } from './course.ts'
import { isConstant, compiledCampaign } from './decide.ts'
import type { Parameters } from './parameters.ts'
import type { UsdPerUnit } from './rate.ts'
import { TEST_PARAMETER } from './test-visits.ts'

type Live = Pick<LiveCampaigns, 'campaign' | 'object' | 'refresh'>
type ReadField = z.output<typeof api.ReadField>
/** A value that was sent for a field, and what a click stores of it. */
type SentValue = {
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
    const traffic = compiledCampaign(campaign, live)
    const fillings = fillingsOf(traffic)
    const url = body.url ?? sampleOf(`${await originOf(context, id)}/c/${campaign.key}`, traffic, fillings)
    const key = /\/c\/([^/?#]*)/i.exec(url.split('?', 1)[0] ?? '')?.[1]
    if (key !== undefined && key.toLowerCase() !== campaign.key)
      refuse('invalid_request', {
        error: `the link is another campaign's: /c/${key}`,
        hint: `This campaign's link is /c/${campaign.key}.`,
      })
    return { url, ...readAs(traffic, fillings, url, usdPerUnit) }
  }
}

/** The origin of the campaign link; empty if only the browser knows it. */
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

function readAs(traffic: CompiledCampaign, fillings: readonly LinkParameter[], url: string, usdPerUnit: UsdPerUnit) {
  const opened = asOpened(url)
  const sentValues: SentValue[] = []
  const parameters = traffic.read(opened, (field, parameter, sent, value) =>
    sentValues.push({ field, parameter, sent, value }),
  )
  const cost = traffic.costOf?.(parameters, Date.now(), usdPerUnit)
  const query = parametersOf(opened)
  const named = fillings.map(({ field, parameter }) => ({ field, parameter }))
  const others = new Set(sentValues.map(({ field }) => field).filter(field => named.every(one => one.field !== field)))
  const fields = [...named, ...Array.from(others, field => ({ field, parameter: field }))].map(
    ({ field, parameter }) => {
      const read = readFieldOf(field, parameters, sentValues)
      if (read === undefined) return fieldWithoutValue(field, parameter, query, traffic)
      return field === 'cost' && read.value !== null && cost?.cost == null
        ? { ...read, state: 'unreadable' as const }
        : read
    },
  )
  const known = new Set([...fields, ...sentValues].map(({ parameter }) => parameter))
  return {
    fields,
    unknown: Array.from(query, ([parameter, sent]) => ({ parameter, sent })).filter(
      ({ parameter }) => parameter !== '' && parameter !== TEST_PARAMETER && !known.has(parameter),
    ),
    cost: cost === undefined ? null : { usd: cost.cost, original: cost.cost_original, currency: cost.cost_currency },
  }
}

/** The result for a field that was sent: the value that is stored, else the first one sent. Undefined if none was sent. */
function readFieldOf(field: string, parameters: Parameters, sentValues: readonly SentValue[]): ReadField | undefined {
  const value = parameters[field as keyof Parameters] ?? null
  const own = sentValues.filter(one => one.field === field)
  const first = own.find(one => one.value !== null && one.value === value) ?? own[0]
  if (first === undefined) return undefined
  const { parameter, sent } = first
  return { field, parameter, sent, value, state: stateOf(first, value) }
}

/** The result for a field that was not sent, or is not read: cost and currency are read only if the cost model is `link`. */
function fieldWithoutValue(
  field: string,
  parameter: string,
  query: ReadonlyMap<string, string>,
  { campaign }: CompiledCampaign,
): ReadField {
  const isUnused = (field === 'cost' || field === 'currency') && campaign.cost?.model !== 'link'
  const sent = isUnused ? (query.get(parameter) ?? null) : null
  return { field, parameter, sent, value: null, state: sent === null ? 'not_sent' : 'unused' }
}

function stateOf({ field, sent }: SentValue, value: string | null): ReadField['state'] {
  if (value !== null) return 'read'
  if (NOTHING.has(sent)) return 'empty'
  if (isUnreplaced(sent)) return 'unreplaced'
  if (field === 'ref_id' && Buffer.byteLength(sent) > TEXT_BYTES) return 'too_long'
  return adIds.has(field) ? 'unusable' : 'unreplaced'
}

const adIds: ReadonlySet<string> = new Set(AD_IDS)

/** The URL as a browser sends it: percent-encoded to ASCII, without the part after `#`. */
const asOpened = (url: string): string =>
  (url.split('#', 1)[0] ?? '').toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)

/** The query parameters of a URL; of a repeated one the first. */
function parametersOf(opened: string): ReadonlyMap<string, string> {
  const start = opened.indexOf('?') + 1
  const parameters = new Map<string, string>()
  for (const [sent, value] of new URLSearchParams(start === 0 ? '' : opened.slice(start))) {
    const name = sent.replace(/^(\?|amp;)+/, '')
    if (!parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

/** The parameters of the campaign link that the source fills in, and those that it appends itself. */
function fillingsOf({ campaign, source }: CompiledCampaign): LinkParameter[] {
  const names = namesOf(campaign.source, source)
  const template = sourceTemplateOf(campaign.source['template'])?.parameters.map(([field, macro]) => ({ field, macro }))
  const isLink = campaign.cost?.model === 'link'
  const usual = ['ref_id', 'sub1', ...(isLink ? ['cost'] : [])].map(field => ({ field, macro: null }))
  const fillings: readonly Omit<LinkParameter, 'parameter'>[] = source?.parameters ?? template ?? usual
  return fillings.map(({ field, macro }) => ({ field, macro, parameter: names[field] ?? field }))
}

/** The campaign link as a source would send it, with sample values. */
function sampleOf(url: string, { source }: CompiledCampaign, fillings: readonly LinkParameter[]): string {
  const samples: Readonly<Record<string, string>> = { cost: '0.01', currency: source?.cost_currency ?? 'USD' }
  const filled = fillings.map(({ field, parameter, macro }) => {
    const value = macro !== null && isConstant(macro) ? macro : (samples[field] ?? `sample-${field.replace('_', '-')}`)
    return `${encodeURIComponent(parameter)}=${value}`
  })
  return `${url}?${filled.join('&')}`
}

/**
 * Records conversions that pages report. Anybody can forge them, so they stand on hold and count nothing until somebody who can be trusted names the same
 * click, type and transaction id. What a browser says that they are worth is shown and never booked.
 */
import { z } from 'zod'
import { DAY_MS } from '../../contract/days.ts'
import { BrowserType } from '../../contract/event-types.ts'
import { Amount, isFaithful, MAX_PAYOUT } from '../../contract/fields.ts'
import { fieldsOf } from '../../contract/json.ts'
import { timeOfId, toUuid } from '../../contract/ids.ts'
import { Refusal, refuse, retryInAMinute } from '../../contract/refusals.ts'
import { type Answer, isOfHost, type Visit } from '../../ground/room.ts'
import { organizationOfClick } from '../clicks/click-id.ts'
import { openReportPace } from '../clicks/report-pace.ts'
import type { FoundClick } from '../clicks/found.ts'
import { Nonce } from '../events/api.ts'
import type { Conversions } from '../events/conversions.ts'
import { eventId } from '../events/identity.ts'
import { queryOf } from '../onward/onward.ts'
import { readBody } from './report.ts'
import { admitReport, type PageTools } from './visits.ts'
import { JSON_HEADERS, pixel } from './answers.ts'

/** Later, a page's conversion is more likely a mistake than a visitor's. */
const OLDEST_MS = 30 * DAY_MS

const empty = (sent: unknown) => (sent === '' ? null : sent)

const Draft = z.object({
  type: BrowserType,
  nonce: z.preprocess(sent => (typeof sent === 'number' ? String(sent) : empty(sent)), Nonce.nullish()),
  value: z.preprocess(empty, Amount(MAX_PAYOUT).nullish()),
  currency: z.preprocess(
    empty,
    z
      .string()
      .regex(/^[a-z]{3}$/i, { error: 'must be a code of three letters' })
      .refine(isFaithful)
      .transform(code => code.toUpperCase())
      .nullish(),
  ),
})

export type ConversionTools = PageTools & { readonly conversions: Pick<Conversions, 'record'> }

/** The two deeds of reporting a conversion. */
export function conversionDeeds(tools: ConversionTools) {
  const isOverPace = openReportPace()
  const record = async (visit: Visit, read: () => unknown): Promise<'pending' | 'approved'> => {
    const click = await clickOfPath(tools, visit)
    const campaign = click?.campaign_id == null ? undefined : tools.live.campaign(click.campaign_id)
    if (click === undefined || campaign === undefined || campaign.is_deleted || campaign.organization.is_deleted)
      refuse('object_not_found')
    const sent = read()
    const { type: named } = fieldsOf(sent)
    const type = typeof named === 'string' ? named : ''
    await admitReport(
      tools,
      { campaign, visit, page: undefined, via: 'script' },
      { click_text: visit.params['click'] ?? '', type },
    )
    if (isOverPace(campaign.id, visit.ip, Date.now())) refuse('rate_limited', { headers: { 'retry-after': '60' } })
    const draft = Draft.parse(sent)
    const { value, currency } = draft
    const nonce = draft.nonce ?? null
    const counts = campaign.browser_types.includes(draft.type)
    const { event, present } = await tools.conversions.record({
      kind: 'conversion',
      org_id: click.org_id,
      id: eventId(click.id, draft.type, nonce ?? undefined),
      click_id: click.id,
      type: draft.type,
      payout: '0',
      isUnconfirmed: !counts,
      nonce,
      payload: null,
      telegram_user_id: undefined,
      bot: undefined,
      source: 'browser',
      claimed: value == null ? null : { value, currency: currency ?? null },
      campaigns: null,
      key: undefined,
      arrived_at: performance.now(),
    })
    // Recorded at once, it has no standing of its own.
    return (present?.status ?? (event.confirmed_at === null ? 'approved' : 'pending')) === 'approved'
      ? 'approved'
      : 'pending'
  }
  return {
    async reportConversion(_ground: unknown, visit: Visit): Promise<Answer> {
      return { status: 200, headers: JSON_HEADERS, body: { status: await record(visit, () => readBody(visit.body)) } }
    },
    async reportConversionByImage(_ground: unknown, visit: Visit): Promise<Answer> {
      if (visit.method === 'HEAD') return pixel(200)
      try {
        await record(visit, () => Object.fromEntries(queryOf(visit.url)))
        return pixel(200)
      } catch (error) {
        return pixel(error instanceof z.ZodError ? 400 : error instanceof Refusal ? error.status : 503)
      }
    },
  }
}

/**
 * The click of the path; undefined if there is none, or if it is too old. Refuses `service_unavailable` while the database is away, or while the click may
 * be in a journal.
 */
async function clickOfPath({ ground, clicks }: PageTools, visit: Visit): Promise<FoundClick | undefined> {
  const id = toUuid(visit.params['click'] ?? '')
  if (id === undefined || timeOfId(id) < Date.now() - OLDEST_MS) return undefined
  const org_id = organizationOfClick(ground.secrets.clickKey, id)
  if (org_id === undefined || !isOfHost(visit.host, org_id)) return undefined
  // Asked first: a journal may be stored between the two questions.
  const isUnsettled = clicks.unsettled()
  const click = await clicks.find(id).catch(() => {
    throw retryInAMinute()
  })
  if (click === undefined && isUnsettled(id)) throw retryInAMinute()
  return click
}

/** The calls that each right allows, as curl commands that work once the placeholders in angle brackets are replaced. */

import { type Endpoint, rightOf, routeOf, type WireCall } from '../../../contract/endpoint.ts'
import type { Right } from '../../../contract/rights.ts'
import * as eventsApi from '../../../intake/events/api.ts'
import * as adSpendApi from '../../../money/ad-spend/api.ts'
import * as postbacksApi from '../../../outgoing/postbacks/api.ts'
import * as feedApi from '../../../reading/feed/api.ts'
import * as reportsApi from '../../../reading/reports/api.ts'
import * as campaignsApi from '../../../traffic/campaigns/api.ts'
import * as clickFlowsApi from '../../../traffic/click-flows/api.ts'
import * as funnelsApi from '../../../traffic/funnels/api.ts'
import * as landingsApi from '../../../traffic/landings/api.ts'
import * as offersApi from '../../../traffic/offers/api.ts'

const ENDPOINTS = [
  reportsApi,
  feedApi,
  eventsApi,
  campaignsApi,
  offersApi,
  landingsApi,
  funnelsApi,
  clickFlowsApi,
  postbacksApi,
  adSpendApi,
].flatMap(api =>
  Object.values(api).filter(
    (one): one is Endpoint => typeof one === 'object' && one !== null && 'route' in one && 'access' in one,
  ),
)

/** Typed by its endpoint, so that an outdated example does not compile. */
const example = <E extends Endpoint>(endpoint: E, body: WireCall<E>['body']) => [endpoint.route, body] as const

const FLOW = {
  nodes: [
    { id: 'entry', type: 'entry' as const },
    { id: 'end', type: 'redirect' as const, url: 'https://example.com/?subid={click_id}' },
  ],
  edges: [{ from: 'entry', to: 'end' }],
}

const today = new Date().toISOString().slice(0, 10)

const BODIES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  example(eventsApi.recordConversion, { clickId: '<click id>', type: 'lead', payout: '12.50', nonce: '<order id>' }),
  example(campaignsApi.createCampaign, {
    name: 'New campaign',
    destination: { type: 'redirect', url: 'https://example.com/?subid={click_id}' },
  }),
  example(campaignsApi.updateCampaign, { name: 'Renamed' }),
  example(offersApi.createOffer, { name: 'New offer', url: 'https://example.com/?subid={click_id}', payout: '12.50' }),
  example(offersApi.replaceOffer, {
    name: 'The offer, whole',
    url: 'https://example.com/?subid={click_id}',
    payout: '15',
  }),
  example(offersApi.setOfferStatus, { status: 'archived' }),
  example(landingsApi.createLanding, { name: 'New landing', url: 'https://example.com/?click_id={click_id}' }),
  example(landingsApi.replaceLanding, { name: 'The landing, whole', url: 'https://example.com/?click_id={click_id}' }),
  example(landingsApi.setLandingStatus, { status: 'archived' }),
  example(funnelsApi.createFunnel, {
    name: 'New funnel',
    landings: [{ landing_id: '<landing id>', weight: 1 }],
    offers: [{ offer_id: '<offer id>', weight: 1 }],
  }),
  example(funnelsApi.updateFunnel, { offers: [{ offer_id: '<offer id>', weight: 1 }] }),
  example(clickFlowsApi.createClickFlow, { name: 'New flow', graph: FLOW }),
  example(clickFlowsApi.replaceClickFlow, { name: 'The draft, whole', graph: FLOW }),
  example(clickFlowsApi.setClickFlowStatus, { status: 'paused' }),
  example(postbacksApi.createPostbackRule, {
    event_type: 'lead',
    url: 'https://example.com/postback?id={click_id}&event={event_type}',
  }),
  example(postbacksApi.updatePostbackRule, { active: false }),
  example(adSpendApi.recordAdSpend, { campaign_id: '<campaign id>', day: today, amount: '120.00' }),
])

const QUERIES: Partial<Record<Right, string>> = {
  report: `?dimension=campaign&date_from=${today}&date_to=${today}T23:59:59.999Z`,
  clicks: '?limit=100',
}

type Ability = { right: Right; summary: string; curl: string }

/** The calls that the given rights allow, each with a curl command. */
export function abilitiesOf(rights: readonly Right[], origin: string): Ability[] {
  return rights.flatMap(right =>
    ENDPOINTS.filter(endpoint => rightOf(endpoint.access) === right).map(endpoint => ({
      right,
      summary: endpoint.summary,
      curl: curlOf(endpoint, right, origin),
    })),
  )
}

function curlOf(endpoint: Endpoint, right: Right, origin: string): string {
  const { method, path } = routeOf(endpoint)
  const address = `${origin}${path.replace(/:(\w+)/g, '<$1>')}${method === 'GET' ? (QUERIES[right] ?? '') : ''}`
  const body = BODIES.get(endpoint.route)
  return [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}'${address}'`,
    '-H "x-api-key: $SLUICE_KEY"',
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ].join(' \\\n  ')
}

// Explains a visitor's walk through a flow to people: each node passed with the reason, and the destination.
import { HOUR_MS } from '../../contract/days.ts'
import { eachSub, SUBS } from '../../contract/fields.ts'
import { toWireId } from '../../contract/ids.ts'
import { compileTemplate, type MacroValues } from '../addresses/macros.ts'
import { EXAMPLE } from '../addresses/preview.ts'
import { type FlowNode, type Graph, isInTelegram, type TriedVisitor, type Way } from './api.ts'
import type { FlowVisitor } from './conditions.ts'
import { type FlowObjects, objectOf } from './objects.ts'
import { type CompiledFlow, earnsForCampaign, type Walk, walk } from './walk.ts'

export type Told = Way & {
  /** Equal for two walks that end at the same destination, whatever nodes they passed. */
  readonly target: string
}

/** A visitor to try a graph with. A described visitor has no click, so their ids are null; the address then shows example ids. */
export type Trial = {
  readonly visitor: FlowVisitor
  readonly click_id: string | null
  readonly campaign_id: string | null
  readonly ref_id: string | null
}

const FALLBACK = 'the fallback of the campaign'
const CAMPAIGNS_OFFER = 'the offer of the campaign, where it has one'

/** The walk of a visitor through a graph, with the names of its objects. */
export function explainTrial(flow: CompiledFlow, graph: Graph, trial: Trial, objects: FlowObjects): Told {
  const { visitor } = trial
  const way = walk(flow, visitor)
  const steps = way.stops.map(({ node }, at) => ({
    node_id: node.id,
    type: node.type,
    label: node.label ?? '',
    reason: reasonOf(way, at, graph, trial, objects),
  }))
  return { steps, ...endOf(way, trial, objects) }
}

type Ending = Pick<Told, 'outcome' | 'leads_to' | 'address' | 'earns_for' | 'target'>

const NOWHERE: Ending = {
  outcome: 'fallback',
  leads_to: FALLBACK,
  address: null,
  earns_for: null,
  target: 'fallback',
}

function endOf({ stops, landing, end }: Walk, trial: Trial, objects: FlowObjects): Ending {
  const last = stops.at(-1)?.node
  const passed = [landing, end].filter(node => node !== undefined)
  if (last === undefined || last !== passed.at(-1) || !passed.every(node => isThere(node, objects))) return NOWHERE
  return {
    outcome: passed[0]?.type as Ending['outcome'],
    leads_to: passed.map(node => calledLike(node, objects)).join(', then '),
    address: addressOf(landing, end, trial, objects),
    earns_for: earnsForCampaign({ landing, end }) ? CAMPAIGNS_OFFER : (earnedBy(end, objects)?.words ?? null),
    target: passed.map(targetOf).join(' '),
  }
}

const targetOf = (node: FlowNode): string => {
  const { type, app, start, link_host, open } = node
  const telegramFields =
    isInTelegram(node) || type === 'channel' ? [app, start, link_host, open].map(part => part ?? '').join(' ') : ''
  return `${type} ${objectOf(node)?.id ?? node.url ?? ''} ${telegramFields}`
}

type Earning = { id: string; words: string }

/** The offer that the end of a path is credited to, if it takes traffic. */
function earnedBy(end: FlowNode | undefined, objects: FlowObjects): Earning | undefined {
  const id = end?.type === 'offer' ? end.offer_id : end?.type === 'redirect' ? end.earns_for_offer_id : null
  const offer = id == null ? undefined : objects.get(id)
  return id == null || offer === undefined || offer.is_archived ? undefined : { id, words: `offer ${offer.name}` }
}

/** The first address that the visitor is sent to, with its macros filled in. */
function addressOf(
  landing: FlowNode | undefined,
  end: FlowNode | undefined,
  trial: Trial,
  objects: FlowObjects,
): string | null {
  const first = landing ?? end
  if (first === undefined) return null
  const named = objectOf(first)
  const url = named === undefined ? first.url : objects.get(named.id)?.url(first)
  return (url && filled(url, { landing, end }, trial, objects)) || null
}

/** The address with its macros filled in from the visitor. */
function filled(
  url: string,
  { landing, end }: Pick<Walk, 'landing' | 'end'>,
  { visitor, click_id, campaign_id, ref_id }: Trial,
  objects: FlowObjects,
): string | undefined {
  const offer_id = earnedBy(end, objects)?.id
  const values: MacroValues = {
    ...visitor,
    click_id: click_id === null ? EXAMPLE.click_id : toWireId(click_id),
    campaign_id: campaign_id === null ? EXAMPLE.campaign_id : toWireId(campaign_id),
    offer_id: offer_id === undefined ? null : toWireId(offer_id),
    landing_id: landing?.landing_id == null ? null : toWireId(landing.landing_id),
    ref_id,
    timestamp: String(Math.floor(visitor.ms / 1000)),
  }
  return compileTemplate(url)?.fill(values)
}

function isThere(node: FlowNode, objects: FlowObjects): boolean {
  if (node.type === 'redirect') return Boolean(node.url)
  const named = objectOf(node)
  return named !== undefined && objects.get(named.id)?.is_archived === false
}

function calledLike(node: FlowNode, objects: FlowObjects): string {
  if (node.type === 'redirect') return node.url ?? ''
  const named = objectOf(node)
  return `${wordOf(node)} ${(named && objects.get(named.id)?.name) ?? '(none)'}`
}

/** The word for a node in a sentence. */
const wordOf = ({ type }: FlowNode): string => (type === 'mini_app' ? 'Mini App of' : type)

function reasonOf(way: Walk, at: number, graph: Graph, trial: Trial, objects: FlowObjects): string {
  const { stops } = way
  const node = stops[at]?.node
  const next = stops[at + 1]?.node
  if (node === undefined) return ''
  if (node.type === 'entry') return next === undefined ? 'Leads nowhere.' : 'Everyone begins here.'
  if (node.type === 'condition') return conditionReason(node, next, graph, trial.visitor)
  if (node.type === 'split') return splitReason(node, next, graph)
  const url = node.type === 'redirect' && node.url ? filled(node.url, way, trial, objects) : undefined
  if (url !== undefined) return `Leads to ${url}.`
  if (isThere(node, objects)) return `Leads to ${calledLike(node, objects)}.`
  const named = objectOf(node)
  const state = named !== undefined && objects.has(named.id) ? 'is archived' : 'is not there'
  return `Its ${named?.kind ?? wordOf(node)} ${state}, so the visitor goes to ${FALLBACK}.`
}

function conditionReason(node: FlowNode, next: FlowNode | undefined, graph: Graph, visitor: FlowVisitor): string {
  const answers = graph.edges.filter(({ from, to }) => from === node.id && to === next?.id).map(({ branch }) => branch)
  const answer = next === undefined ? 'this branch leads nowhere' : [...new Set(answers)].join(' or ')
  return `${said(node, visitor)}: ${answer}.`
}

function said(node: FlowNode, visitor: FlowVisitor): string {
  const { field } = node
  if (field == null) return 'It has no field'
  if (field === 'uniqueness') return saidOfVisits(node, visitor)
  if (field === 'bot') return visitor.is_bot ? 'This is a bot' : 'This is no bot'
  if (field === 'time') return `It is ${new Date(visitor.ms).toISOString()}, asked for ${timesOf(node)}`
  return `${field} is ${visitor[field] ?? 'not known'}, asked for ${wantedBy(node)}`
}

function saidOfVisits({ within_hours }: FlowNode, { is_new, seen_ms, ms }: FlowVisitor): string {
  if (within_hours == null) return is_new ? 'The visitor is new' : 'The visitor was here before'
  const was = seen_ms !== null && ms - seen_ms < within_hours * HOUR_MS
  return `The visitor was ${was ? '' : 'not '}here in the last ${within_hours} hours`
}

function wantedBy({ match, values }: FlowNode): string {
  if (match === 'is_set') return 'any value'
  const how = match === 'contains' ? 'containing ' : match === 'starts_with' ? 'beginning with ' : ''
  return how + (values ?? []).slice(0, 10).join(', ') + ((values ?? []).length > 10 ? ' …' : '')
}

function timesOf({ days, from_time, to_time, time_zone }: FlowNode): string {
  const hours = from_time == null && to_time == null ? '' : `${from_time ?? '00:00'} to ${to_time ?? '24:00'}`
  return [days?.join(', '), hours, time_zone ?? 'UTC'].filter(Boolean).join(' ')
}

function splitReason(node: FlowNode, next: FlowNode | undefined, graph: Graph): string {
  const edges = graph.edges.filter(({ from }) => from === node.id)
  const total = edges.reduce((sum, { weight }) => sum + (weight ?? 0), 0)
  const weight = edges.find(({ to }) => to === next?.id)?.weight ?? 0
  if (next === undefined) return 'No branch takes anybody.'
  return `The visitor belongs to the share of ${next.label || next.id}, ${weight} of ${total}, and always will.`
}

/** A visitor in a few words: `DE, mobile, Android, Chrome, new`. */
export function describe(visitor: FlowVisitor): string {
  const subs = SUBS.flatMap(sub => (visitor[sub] === null ? [] : `${sub}=${visitor[sub]}`))
  const { geo, device, os, browser, language, is_new, is_bot } = visitor
  return [
    geo ?? 'no country',
    device,
    os,
    browser,
    language,
    ...subs,
    is_new ? 'new' : 'seen before',
    is_bot && device !== 'bot' && 'bot',
  ]
    .filter(Boolean)
    .join(', ')
}

/** The described visitor. By default they are new and come now. A visitor who is not new was last seen a moment before. */
export function flowVisitorOf(described: TriedVisitor, now_ms: number, seed: string): FlowVisitor {
  const at_ms = described.at == null ? now_ms : Date.parse(described.at)
  return {
    ...eachSub(sub => described[sub] || null),
    geo: described.geo || null,
    device: described.device || null,
    os: described.os || null,
    browser: described.browser || null,
    language: described.language || null,
    is_new: described.is_new ?? true,
    seen_ms: (described.is_new ?? true) ? null : at_ms,
    is_bot: described.is_bot ?? false,
    ms: at_ms,
    seed: described.visitor || seed,
  }
}

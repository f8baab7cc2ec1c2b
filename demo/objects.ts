// The destinations of the demo's campaigns: offers, landings, funnels, click flows and the bot, as rows, and in the form that the redirect uses.
import type { Transaction } from 'kysely'
import { DAY_MS } from '../src/contract/days.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import type { Ground } from '../src/ground/room.ts'
import { insertBot } from '../src/telegram/bots/bots.ts'
import { UNREACHABLE } from '../src/telegram/bots/hooks.ts'
import { isReachable } from '../src/telegram/bots/telegram.ts'
import type { LiveCampaigns, LiveFlow, LiveObjects } from '../src/traffic/campaigns/live.ts'
import { type DemoFlow, type DemoFunnel, type IdOf, OFFERS, type OfferName } from './world.ts'

/** The new organization. `today` is the last day of its traffic (Unix ms); `times` go into rows. */
export type Founding = Pick<Ground, 'config' | 'secrets'> & {
  trx: Transaction<Tables>
  org_id: number
  today: number
  times: { created_at: string; updated_at: string }
  /** The id of the next object. Lists are sorted by id. */
  nextId: () => string
}

type Lookup = Pick<LiveCampaigns, 'object' | 'capsOf'> & { isSpent: () => boolean }

/** The organization's objects. A click flow has the version that was published at the requested time. */
export class Standing {
  readonly #objects = new Map<string, unknown>()
  readonly #flows = new Map<string, { from: number; flow: LiveFlow }[]>()

  put(object: Exclude<LiveObjects[keyof LiveObjects], LiveFlow>): void {
    this.#objects.set(object.id, object)
  }

  putFlow(id: string, versions: { from: number; flow: LiveFlow }[]): void {
    this.#flows.set(id, versions)
  }

  get ids(): string[] {
    return [...this.#objects.keys(), ...this.#flows.keys()]
  }

  at(ms: number): Lookup {
    const object = (kind: string, id: string) =>
      kind === 'click_flow'
        ? this.#flows.get(id)?.findLast(({ from }) => from <= ms)?.flow
        : kind === 'open_hours'
          ? undefined
          : this.#objects.get(id)
    // Today's caps and hours do not apply to past days.
    return { object: object as Lookup['object'], capsOf: () => undefined, isSpent: () => false }
  }
}

/**
 * Telegram allows no name with two underscores, so the demo never leads to a stranger's bot. The token is
 * made up too.
 */
export const BOT = {
  username: 'coinpulse__demo_bot',
  name: 'Coin Pulse',
  token: '1000000000:DEMO-this-is-no-token-of-any-bot',
}

/** The address of an offer, with the click id in the parameter that its network or advertiser returns. */
export function offerUrl(name: OfferName): string {
  const { path, ...offer } = OFFERS[name]
  return `https://offers.example/${path}?${'byNetwork' in offer ? 'subid' : 'click'}={click_id}&creative={sub1}`
}

export async function placeOffers(
  { trx, org_id, nextId, times }: Founding,
  standing: Standing,
): Promise<(name: OfferName) => string> {
  const names = Object.keys(OFFERS) as OfferName[]
  const ids = new Map(names.map(name => [name, nextId()]))
  const idOf = (name: OfferName) => ids.get(name) ?? ''
  const rows = names.map(name => {
    const { name: called, payout, payout_types } = OFFERS[name]
    return { org_id, id: idOf(name), name: called, url: offerUrl(name), payout, payout_types: [...payout_types] }
  })
  await trx
    .insertInto('offers')
    .values(rows.map(row => ({ ...row, status: 'active', ...times })))
    .execute()
  for (const { id, url, payout } of rows) standing.put({ org_id, id, url, payout, status: 'active', is_deleted: false })
  return idOf
}

async function placeLandings(
  { trx, org_id, nextId, times }: Founding,
  standing: Standing,
  pages: readonly { name: string; path: string }[],
): Promise<string[]> {
  const rows = pages.map(({ name, path }) => {
    return { org_id, id: nextId(), name, url: `https://pages.example/${path}?click_id={click_id}` }
  })
  await trx
    .insertInto('landings')
    .values(rows.map(row => ({ ...row, status: 'active', ...times })))
    .execute()
  for (const { id, url } of rows) standing.put({ org_id, id, url, status: 'active', is_deleted: false })
  return rows.map(({ id }) => id)
}

/** Inserts landings and their funnel. Returns the funnel's id. */
export async function placeFunnel(
  founding: Founding,
  standing: Standing,
  { name, landings, offers }: DemoFunnel & { name: string },
  offerId: (name: OfferName) => string,
): Promise<string> {
  const { trx, org_id, nextId, times } = founding
  const pages = await placeLandings(founding, standing, landings)
  const shares = {
    landings: landings.map(({ weight }, at) => ({ landing_id: pages[at] ?? '', weight })),
    offers: offers.map(([offer, weight]) => ({ offer_id: offerId(offer), weight })),
  }
  const id = nextId()
  await trx
    .insertInto('funnels')
    .values({
      org_id,
      id,
      name,
      landings: JSON.stringify(shares.landings),
      offers: JSON.stringify(shares.offers),
      ...times,
    })
    .execute()
  standing.put({ org_id, id, ...shares, is_deleted: false })
  return id
}

/** Inserts landings and their click flow, with each version published at the beginning of its day. Returns the flow's id. */
export async function placeFlow(
  founding: Founding,
  standing: Standing,
  { name, landings, versions }: DemoFlow,
  idOf: Omit<IdOf, 'landing'>,
): Promise<string> {
  const { trx, org_id, nextId, today, times } = founding
  const pages = await placeLandings(founding, standing, landings)
  const landing = (key: string) => pages[landings.findIndex(page => page.key === key)] ?? ''
  const id = nextId()
  const published = versions.map(({ from, graph }, at) => {
    return { version: at + 1, from: today - from * DAY_MS, graph: graph({ ...idOf, landing }) }
  })
  const texts = published.map(({ graph }) => JSON.stringify(graph))
  await trx
    .insertInto('click_flows')
    .values({
      org_id,
      id,
      name,
      graph: texts.at(-1) ?? '',
      status: 'active',
      published_version: published.length,
      ...times,
    })
    .execute()
  await trx
    .insertInto('click_flow_versions')
    .values(
      published.map(({ version, from }, at) => ({
        org_id,
        click_flow_id: id,
        version,
        graph: texts[at] ?? '',
        published_at: new Date(from).toISOString(),
      })),
    )
    .execute()
  const live = published.map(({ version, from, graph }) => {
    return { from, flow: { org_id, id, status: 'active', version, graph, is_deleted: false } }
  })
  standing.putFlow(id, live)
  return id
}

/** Inserts a bot as on a Sluice that Telegram cannot reach: Telegram is not called, and the bot's program reports its starts. */
export async function placeBot(
  { trx, org_id, nextId, times, secrets, config }: Founding,
  standing: Standing,
): Promise<string> {
  const id = nextId()
  await insertBot(trx, secrets, { org_id, id, ...BOT, created_at: times.created_at })
  await trx
    .updateTable('bots')
    .set({
      hook_error: isReachable(config.baseUrl)
        ? 'the bot of the demo is made up, and Telegram was not asked'
        : UNREACHABLE,
    })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute()
  standing.put({ org_id, id, username: BOT.username, is_deleted: false })
  return id
}

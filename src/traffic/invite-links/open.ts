/** Gives invite links to visitors of channels: from the stocks of this process, or if those are empty, the shared link of the campaign. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import type { LiveCampaigns, LiveChannel } from '../campaigns/live.ts'
import type { SharedLink } from './grants.ts'
import { type ForClick, inviteForClick, linkAgain } from './invite-links.ts'
import { Stock } from './stock.ts'

/** How long a visitor waits if the stock is empty. Then they get the shared link. */
const PATIENCE_MS = 250
/** After the database failed to answer, returning visitors get a new link for this long, without a look-up of their old one. */
const REST_MS = 1000
/** How long a visitor of a landing waits for their link. */
const ONWARD_MS = 1500
const TELL_MS = 2000
/** The link for a click. `own_id` and `shared` must be stored with the click; a link that the visitor had before has neither. */
export type Link = { readonly url: string; readonly own_id?: string; readonly shared?: SharedLink }

type Live = Pick<LiveCampaigns, 'object' | 'sharedLink' | 'all'>
type Asked = { readonly channel: LiveChannel; readonly campaign_id: string }

type AskedFor = Asked & { readonly had: string | undefined; readonly ms: number }

export type InviteLinks = {
  /** A link for a click that counts; undefined if there is not even a shared one. `had` is the id of the visitor's previous link, `ms` is now (Unix). */
  give(asked: AskedFor): Link | undefined | Promise<Link | undefined>
  /** The campaign's shared link, for visits that do not count as clicks. */
  shared(asked: Asked): Link | undefined
  /** The link behind a landing: the click's own, else a free one, else the shared one, also while the database is away. Never rejects. */
  forClick(asked: ForClick): Promise<string | undefined>
  /** Returns the links that no click has. */
  close(): Promise<void>
}

type Parts = Pick<Ground, 'database' | 'db' | 'log'>

/** Opens the stocks of this process. Visitors wait at most `patience_ms` for a link. */
export function openInviteLinks(parts: Parts, live: Live, patience_ms = PATIENCE_MS): InviteLinks {
  const stocks = openStocks(parts, live)
  let looks_after = 0

  const shared = ({ channel, campaign_id }: Asked): Link | undefined => {
    const link = live.sharedLink(channel.id, campaign_id)
    return link && { url: link.url, shared: { link_id: link.id, channel_id: channel.id } }
  }
  const own = ({ ms }: AskedFor, stock: Stock): Link | undefined => {
    const taken = stock.take(ms)
    return taken && { url: taken.url, own_id: taken.id }
  }
  /** Asks again until the time is over, because other waiting visitors may take all links of one answer. */
  const waited = async (visit: AskedFor, stock: Stock): Promise<Link | undefined> => {
    const until = performance.now() + patience_ms
    for (let left_ms = patience_ms; left_ms > 0 && stock.isHopeful(); left_ms = until - performance.now()) {
      await stock.askFor(left_ms)
      const link = own(visit, stock)
      if (link !== undefined) return link
    }
    return shared(visit)
  }
  const fresh = (visit: AskedFor): Link | undefined | Promise<Link | undefined> => {
    const stock = stocks.of(visit.channel)
    stock.note(visit.ms)
    return own(visit, stock) ?? (stock.isHopeful() ? waited(visit, stock) : shared(visit))
  }
  /** The visitor's previous link while it works; otherwise, or if the database does not answer, a new one. */
  const again = async (visit: AskedFor, link_id: string): Promise<Link | undefined> => {
    const { org_id, id: channel_id } = visit.channel
    const late = sleep(patience_ms, undefined, { ref: false }).then(() => Promise.reject(new Error('timeout')))
    late.catch(() => {})
    try {
      const url = await Promise.race([linkAgain(parts.db, { org_id, channel_id, link_id }), late])
      if (url !== undefined) return { url }
    } catch {
      looks_after = performance.now() + REST_MS
    }
    return await fresh(visit)
  }
  return {
    give: visit =>
      visit.had === undefined || performance.now() < looks_after ? fresh(visit) : again(visit, visit.had),
    shared(forCampaign) {
      const link = shared(forCampaign)
      return link && { url: link.url }
    },
    async forClick(forClick) {
      const { campaign_id } = forClick
      const late = sleep(ONWARD_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('timeout')))
      late.catch(() => {})
      try {
        return await Promise.race([inviteForClick(parts.db, forClick), late])
      } catch {
        const channel = live.object('channel', forClick.channel_id)
        return channel === undefined || campaign_id === null ? undefined : shared({ channel, campaign_id })?.url
      }
    },
    close: () => stocks.close(),
  }
}

/** The stocks of this process by channel. They are filled ahead of visitors, reported to the database, and returned at the end. */
function openStocks({ database, log }: Parts, live: Live) {
  const stocks = new Map<string, Stock>()
  const retired = new Set<Stock>()
  const by = randomUUID()

  const of = (channel: LiveChannel): Stock => {
    const stock = stocks.get(channel.id)
    if (stock?.channel === channel || stock?.isFor(channel) === true) return stock
    if (stock !== undefined) retired.add(stock)
    const fresh = new Stock(database.clicks, channel, by)
    stocks.set(channel.id, fresh)
    return fresh
  }
  const onError = (error: unknown) => log.debug({ err: error }, 'could not write the use of invite links; retrying')
  const tell = async () => {
    const ledTo = channelsLedTo(live)
    for (const channel of ledTo) of(channel).fill()
    const ids = new Set([...ledTo].map(({ id }) => id))
    for (const stock of retired) await stock.giveBack().then(() => retired.delete(stock), onError)
    for (const stock of stocks.values()) await stock.tell(ids.has(stock.channel.id)).catch(onError)
  }
  const rounds = openRounds('invite-links/open', TELL_MS, tell, onError)
  return {
    of,
    async close() {
      await rounds.close()
      await Promise.allSettled([...retired, ...stocks.values()].map(stock => stock.giveBack()))
    },
  }
}

/** The channels that active campaigns lead to directly. For channels of click flows, the first visitor opens the stock. */
function channelsLedTo(live: Live): Set<LiveChannel> {
  const channels = new Set<LiveChannel>()
  for (const { destination, status, is_deleted } of live.all()) {
    if (destination.type !== 'redirect' || destination.channel === undefined) continue
    const channel = live.object('channel', destination.channel.channel_id)
    const isOpen = status === 'active' && !is_deleted && channel?.is_deleted === false && channel.state !== 'gone'
    if (isOpen) channels.add(channel)
  }
  return channels
}

/** The links that this process gives to visitors of channels: from its stocks, and where those are empty the ones that campaigns share. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import type { LiveCampaigns, LiveChannel } from '../campaigns/live.ts'
import type { Granted } from './grants.ts'
import { type ForClick, inviteForClick } from './invite-links.ts'
import { Stock } from './stock.ts'

/** A visitor waits so long for links that this process has none of; then he gets the shared one. */
const PATIENCE_MS = 250
/** A visitor of a landing waits so long for his link. */
const ONWARD_MS = 1500
const TELL_MS = 2000
/** Who comes again meanwhile gets the link he has: reloading a page takes no links. */
const AGAIN_MS = 30 * MINUTE_MS
/** A busy half hour's visitors, at about 200 bytes each: what lives so long weighs on every full collection, and visitors wait for those. */
const MOST_REMEMBERED = 20_000

/** Where a click is led. Without `granted` nothing is to be written with it. */
export type Link = { readonly url: string; readonly granted?: Granted }

/** The link a visitor was given last. */
type Known = { readonly url: string; readonly channel_id: string; readonly campaign_id: string; readonly ms: number }

type Live = Pick<LiveCampaigns, 'object' | 'sharedLink' | 'all'>
type Asked = { readonly channel: LiveChannel; readonly campaign_id: string }

type AskedFor = Asked & { readonly visitor: string; readonly ms: number }

export type InviteLinks = {
  /** A link for a click that counts; undefined where not even a shared one is there. `visitor` is who comes, `ms` when (Unix). */
  give(asked: AskedFor): Link | undefined | Promise<Link | undefined>
  /** The link that the campaign shares, for whom no click counts. */
  shared(asked: Asked): Link | undefined
  /** Behind a landing: the click's link, given by this, or the shared one, as while the database is away. Never rejects. */
  forClick(asked: ForClick): Promise<string | undefined>
  /** Gives back what no click has. */
  close(): Promise<void>
}

type Parts = Pick<Ground, 'database' | 'db' | 'log'>

/** Opens the giving of this process, with stocks for the channels that campaigns lead to. */
export function openInviteLinks(parts: Parts, live: Live): InviteLinks {
  const stocks = openStocks(parts, live)
  const known = new LRUCache<string, Known>({ max: MOST_REMEMBERED })

  const shared = ({ channel, campaign_id }: Asked): Link | undefined => {
    const link = live.sharedLink(channel.id, campaign_id)
    return link && { url: link.url, granted: { link_id: link.id, channel_id: channel.id, is_shared: true } }
  }
  const own = ({ channel, campaign_id, visitor, ms }: AskedFor, stock: Stock): Link | undefined => {
    const taken = stock.take(ms)
    if (taken === undefined) return undefined
    known.set(visitor, { url: taken.url, channel_id: channel.id, campaign_id, ms })
    return { url: taken.url, granted: { link_id: taken.id, channel_id: channel.id } }
  }
  /** As many ask as wait, so that one answer is hardly enough for a crowd. */
  const waited = async (asked: AskedFor, stock: Stock): Promise<Link | undefined> => {
    const until = performance.now() + PATIENCE_MS
    for (let left_ms = PATIENCE_MS; left_ms > 0 && stock.isHopeful(); left_ms = until - performance.now()) {
      await stock.askFor(left_ms)
      const link = own(asked, stock)
      if (link !== undefined) return link
    }
    return shared(asked)
  }
  return {
    give(asked) {
      const { channel, campaign_id, visitor, ms } = asked
      const again = known.get(visitor)
      if (again?.channel_id === channel.id && again.campaign_id === campaign_id && ms - again.ms < AGAIN_MS)
        return { url: again.url }
      const stock = stocks.of(channel)
      stock.note(ms)
      return own(asked, stock) ?? (stock.isHopeful() ? waited(asked, stock) : shared(asked))
    },
    shared(asked) {
      const link = shared(asked)
      return link && { url: link.url }
    },
    async forClick(asked) {
      const { campaign_id } = asked
      const late = sleep(ONWARD_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('timeout')))
      late.catch(() => {})
      try {
        return await Promise.race([inviteForClick(parts.db, asked), late])
      } catch {
        const channel = live.object('channel', asked.channel_id)
        return channel === undefined || campaign_id === null ? undefined : shared({ channel, campaign_id })?.url
      }
    },
    close: () => stocks.close(),
  }
}

/** The stocks of this process, by the channel: filled ahead of visitors, told of, and given back. */
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
  const onError = (error: unknown) =>
    log.debug({ err: error }, 'what became of invite links could not be written; it is tried again')
  const tell = async () => {
    const ledTo = channelsLedTo(live)
    for (const channel of ledTo) of(channel).fill()
    const ids = new Set([...ledTo].map(({ id }) => id))
    for (const stock of retired) await stock.giveBack().then(() => retired.delete(stock), onError)
    for (const stock of stocks.values()) await stock.tell(ids.has(stock.channel.id)).catch(onError)
  }
  const rounds = openRounds(TELL_MS, tell, onError)
  return {
    of,
    async close() {
      await rounds.close()
      await Promise.allSettled([...retired, ...stocks.values()].map(stock => stock.giveBack()))
    },
  }
}

/** The channels that active campaigns lead to by themselves; those of click flows are asked for by their first visitor. */
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

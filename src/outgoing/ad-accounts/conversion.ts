/** Builds the data of a conversion that adapters may report. Reads events, clicks, campaigns and offers; owns no table. */

import { AD_IDS, type AdId } from '../../contract/ad-platforms.ts'
import type { EventType } from '../../contract/event-types.ts'
import { timeOfId, toWireId } from '../../contract/ids.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { isPublicAddress } from '../../ground/guard.ts'
import type { ConversionToSend } from './adapter.ts'

/** The columns of a click `c`, and the address it led to: its campaign's redirect `p`, or its offer's address `o`. */
export const PLATFORM_CLICK_COLUMNS = `c.id as click_id, ${AD_IDS.map(name => `c.${name}`).join(', ')}, c.user_agent, c.ip_encrypted,
  coalesce(p.destination ->> 'url', o.url) as led_to`
/** `$1` is the organization. */
export const JOIN_PAGE = `
  left join campaigns p on p.org_id = $1 and p.id = c.campaign_id
  left join offers o on o.org_id = $1 and o.id = c.offer_id`

export type ClickRow = { [id in AdId]: string | null } & {
  click_id: string | null
  user_agent: string | null
  ip_encrypted: Buffer | null
  led_to: string | null
}

export type ConversionRow = ClickRow & {
  event_id: string
  type: EventType
  happened_ms: number
  payout: string | null
  person_id: string
  source: string
  email: unknown
  phone: unknown
}

/** The conversion of a row. `website_url` is the account's page for all conversions, if set. */
export function conversionOf(
  row: ConversionRow,
  website_url: string | null,
  secrets: Pick<Secrets, 'open'>,
): ConversionToSend {
  const { event_id, type, happened_ms, payout, person_id, source, email, phone, click_id, user_agent } = row
  return {
    event_id: toWireId(event_id),
    type,
    happened_ms,
    payout,
    person_id: toWireId(person_id),
    is_chat: source === 'service' || IN_CHAT.has(type),
    page_url: pageUrlOf(website_url ?? row.led_to),
    contact: { email, phone },
    click: {
      // The time of a deleted click is unknown, so the conversion's is used.
      made_ms: click_id === null ? happened_ms : timeOfId(click_id),
      ...(Object.fromEntries(AD_IDS.map(id => [id, row[id]])) as Record<AdId, string | null>),
      user_agent,
      ip: publicIpOf(row.ip_encrypted, secrets),
    },
  }
}

const IN_CHAT: ReadonlySet<EventType> = new Set<EventType>([
  'bot_start',
  'channel_join',
  'join_request',
  'first_dm',
  'miniapp_launch',
])

/** Hosts of Telegram links, which are not pages of the advertiser. */
const TELEGRAM = /(^|\.)(t\.me|telegram\.(me|org))$/

/** The page of an address, without its query and macros, which platforms need not know. */
export function pageUrlOf(address: string | null): string | null {
  const url = address === null ? null : URL.parse(address.replace(/\{[^{}]*\}/g, ''))
  return url === null || TELEGRAM.test(url.hostname) ? null : url.origin + url.pathname
}

/** The IP address, if it is public: platforms refuse others. */
function publicIpOf(encrypted: Buffer | null, secrets: Pick<Secrets, 'open'>): string | null {
  const ip = encrypted === null ? null : secrets.open(encrypted)
  return ip !== null && isPublicAddress(ip) ? ip : null
}

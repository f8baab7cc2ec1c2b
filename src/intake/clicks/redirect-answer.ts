/** The answers that send a visitor on, to a URL or into a Telegram channel. */
import type { Answer } from '../../ground/room.ts'
import { intoChannel } from '../../traffic/addresses/into-channel.ts'
import type { IntoChannel } from './course.ts'
import { openingPage } from './opening-page.ts'

const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'strict-origin-when-cross-origin' }

/** A 302 that no cache keeps. */
export const redirectTo = (location: string): Answer => ({ status: 302, headers: { location, ...HEADERS } })

/** Into a channel by an invite link or its public address, as `place` says: by a redirect, or by a page that opens Telegram. */
export function redirectIntoChannel(link: string, place: IntoChannel['place']): Answer {
  const { url, app_link } = intoChannel(link, place)
  return app_link === undefined ? redirectTo(url) : openingPage(url, app_link)
}

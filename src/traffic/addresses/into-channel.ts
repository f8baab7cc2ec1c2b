/** Invite links as visitors get them: under the chosen host of Telegram, directly or through a page that opens the app. */
import { chatLink } from '../../contract/telegram.ts'

/** How a channel's link opens; missing fields have their defaults. */
export type ChannelPlace = {
  readonly open?: 'direct' | 'page' | null | undefined
  readonly link_host?: 't.me' | 'telegram.me' | null | undefined
}

/** `app_link` is the link that the page opens in the app; undefined if no page is wanted. */
export function intoChannel(
  link: string,
  { open, link_host }: ChannelPlace,
): { readonly url: string; readonly app_link: string | undefined } {
  const { url, app_url } = chatLink(link, link_host)
  return { url, app_link: open === 'page' ? app_url : undefined }
}

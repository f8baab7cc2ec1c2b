/** Invite links as visitors are led to them: under the name of Telegram that is wished for, or by a page that opens the app. */
import { chatLink } from '../../contract/telegram.ts'

/** How a channel is entered; what is left out is as it is by default. */
export type ChannelPlace = {
  readonly open?: 'direct' | 'page' | null | undefined
  readonly link_host?: 't.me' | 'telegram.me' | null | undefined
}

/** `app_link` is what the page that opens the app tries; undefined where no page is wanted. */
export function intoChannel(
  link: string,
  { open, link_host }: ChannelPlace,
): { readonly url: string; readonly app_link: string | undefined } {
  const { url, app_url } = chatLink(link, link_host)
  return { url, app_link: open === 'page' ? app_url : undefined }
}

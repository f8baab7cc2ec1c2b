// Links into Telegram, compiled once per place and version of its bot, so that a redirect needs only look-ups in memory.
import { type TelegramPlace, telegramLink } from '../../contract/telegram.ts'
import { compileTemplate, type AddressTemplate } from './macros.ts'

/** A compiled link. `app_link` is the link that the page opens in the app, without the click id at its end; undefined if no page is wanted. */
type IntoTelegram = { readonly template: AddressTemplate | undefined; readonly app_link: string | undefined }

type NamedBot = { readonly username: string }

const links = new WeakMap<TelegramPlace, { readonly bot: NamedBot; readonly link: IntoTelegram }>()

/** The link of a place. The cache is keyed by object identity: places, and bots in memory, are replaced and never mutated. */
export function intoTelegram(place: TelegramPlace, bot: NamedBot): IntoTelegram {
  const cached = links.get(place)
  if (cached?.bot === bot) return cached.link
  const { url, app_url } = telegramLink(bot.username, place)
  const app_link = place.open === 'page' ? app_url.replace('{click_id}', '') : undefined
  const link = { template: compileTemplate(url), app_link }
  links.set(place, { bot, link })
  return link
}

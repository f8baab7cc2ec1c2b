// The addresses of what campaigns lead to, compiled once per version of the object.
import { startLink } from '../../contract/address.ts'
import type { LiveBot, LiveLanding, LiveOffer } from '../campaigns/live.ts'
import { compileTemplate, type Template } from './macros.ts'

const templates = new WeakMap<LiveOffer | LiveLanding | LiveBot, Template | undefined>()

/** The address of an offer or a landing; of a bot, the link that starts it with the id of the click. */
export function templateOf(object: LiveOffer | LiveLanding | LiveBot): Template | undefined {
  if (!templates.has(object))
    templates.set(object, compileTemplate('url' in object ? object.url : startLink(object.username)))
  return templates.get(object)
}

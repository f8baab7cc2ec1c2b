/** The rungs a click climbs, in their order, and how they are said. */
import { Click } from '../../feed/api.ts'

export const LADDER = Click.shape.status.options
export type Rung = (typeof LADDER)[number]

const SHORTHAND: Record<string, string> = { ftd: 'FTD', first_dm: 'First DM', miniapp_launch: 'Mini App launch' }

/** A rung, or an event type, as a heading says it. */
export function inWords(slug: string): string {
  return SHORTHAND[slug] ?? (slug.charAt(0).toUpperCase() + slug.slice(1)).replaceAll('_', ' ')
}

/** The rungs a click climbs, in their order, and how they are said. */
import { EVENT_TYPE_LABELS } from '../../contract/event-types.ts'
import { Click } from '../../reading/feed/api.ts'

export const LADDER = Click.shape.status.options
export type Rung = (typeof LADDER)[number]

const LABELS: Readonly<Record<string, string>> = EVENT_TYPE_LABELS

/** A rung, or an event type, as a heading says it. */
export function inWords(slug: string): string {
  return LABELS[slug] ?? (slug.charAt(0).toUpperCase() + slug.slice(1)).replaceAll('_', ' ')
}

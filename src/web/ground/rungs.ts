/** The rungs a click climbs, in their order, and how they and the types of events are said: by what the workspace calls them. */
import { EVENT_TYPE_LABELS } from '../../contract/event-types.ts'
import { Click } from '../../reading/feed/api.ts'

export const LADDER = Click.shape.status.options

const LABELS: Readonly<Record<string, string>> = EVENT_TYPE_LABELS
let names: Readonly<Record<string, string>> = {}

/** Takes what the workspace on the screen calls its events. The shell says it before any page is shown, and shows the page anew when it changes. */
export function callEvents(called: Readonly<Record<string, string>>): void {
  names = called
}

/** A rung, or an event type, as a heading says it. */
export function inWords(slug: string): string {
  return names[slug] ?? LABELS[slug] ?? (slug.charAt(0).toUpperCase() + slug.slice(1)).replaceAll('_', ' ')
}

/** The statuses of a click, in order, and the names of statuses and event types, which the workspace may choose. */
import { EVENT_TYPE_LABELS } from '../../contract/event-types.ts'
import { FeedClick } from '../../reading/feed/api.ts'

export const CLICK_STATUSES = FeedClick.shape.status.options

const LABELS: Readonly<Record<string, string>> = EVENT_TYPE_LABELS
let names: Readonly<Record<string, string>> = {}

/** Sets the workspace's names of events. The shell calls it before it shows a page, and mounts the page again after a change. */
export function setEventNames(eventNames: Readonly<Record<string, string>>): void {
  names = eventNames
}

/** The name of a status or an event type. */
export function inWords(slug: string): string {
  return names[slug] ?? LABELS[slug] ?? (slug.charAt(0).toUpperCase() + slug.slice(1)).replaceAll('_', ' ')
}

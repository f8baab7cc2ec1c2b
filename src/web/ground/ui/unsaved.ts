/** Asks before what was typed and not saved is lost: by a link, the Back button, or closing the tab. */
import { useBlocker } from '@tanstack/react-router'

/** `what` stands in the question. What says something about the page in its address only, such as a filter, leaves nothing. */
export function useUnsaved(isDirty: boolean, what = 'what you have changed'): void {
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty && current.pathname !== next.pathname && !window.confirm(`Leave without saving ${what}?`),
    enableBeforeUnload: isDirty,
  })
}

/** Whether values differ from what they were, as the API would be sent them. */
export const isChanged = (values: object, before: object): boolean => JSON.stringify(values) !== JSON.stringify(before)

/** Asks before unsaved input is lost by a link, the Back button, or closing the tab. */
import { useBlocker } from '@tanstack/react-router'
import { useState } from 'react'

/** `what` stands in the question. Navigation within the page, such as a filter in its address, asks nothing. */
export function useUnsaved(isDirty: boolean, what: string): void {
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty && current.pathname !== next.pathname && !window.confirm(`Leave without saving ${what}?`),
    enableBeforeUnload: isDirty,
  })
}

/** Whether values differ, as they would be sent to the API. */
export const isChanged = (values: object, before: object): boolean => JSON.stringify(values) !== JSON.stringify(before)

/** The unsaved changes of a page that sends only changed fields: `now` is what its form shows. The server checks them. */
export function useChanges<Saved extends object, Changes extends object>(saved: Saved, what: string) {
  const [changes, setChanges] = useState({} as Changes)
  const now = { ...saved, ...changes } as Saved
  useUnsaved(isChanged(now, saved), what)
  return {
    changes,
    now,
    set: (more: Changes) => setChanges(before => ({ ...before, ...more })),
    clear: () => setChanges({} as Changes),
  }
}

/** Short notifications at the edge of the screen. Errors are shown where they happened instead. */
import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import type { z } from 'zod'
import type { OnFallback } from '../../../contract/consequences.ts'
import type { Warnings } from '../../../contract/warnings.ts'

const toasts = Toast.createToastManager()

/** Warnings stay longer, because they ask for action. */
const LONG_MS = 20_000

/** Shows a notification. Callable from anywhere. */
export function notify(title: string, description?: string) {
  toasts.add({ title, ...(description === undefined ? {} : { description }) })
}

type ReplyWithWarnings = {
  readonly warnings?: readonly z.input<typeof Warnings>[number][]
  readonly campaigns_on_fallback?: z.input<typeof OnFallback>
}

/**
 * Notifies that something was done. Warnings in the reply replace the description, except unknown macros, which forms show while
 * typing.
 */
export function notifyDone(title: string, answered: unknown, description?: string) {
  const { warnings = [], campaigns_on_fallback: campaigns = [] } = (answered ?? {}) as ReplyWithWarnings
  const words = warnings.filter(({ code }) => code !== 'unknown_macros').map(({ message }) => message)
  const named = (has: boolean) => campaigns.filter(({ has_fallback }) => has_fallback === has).map(({ name }) => name)
  words.unshift(
    ...inWords('Visitors of these campaigns now go to the fallback', named(true)),
    ...inWords('These campaigns have no fallback, so their visitors now have nowhere to go', named(false)),
  )
  if (words.length === 0) notify(title, description)
  else toasts.add({ title, description: words.join(' '), timeout: LONG_MS })
}

const MOST_NAMED = 5

function inWords(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return [`${what}: ${names.slice(0, MOST_NAMED).join(', ')}${more}.`]
}

export function Toasts({ children }: { children: React.ReactNode }) {
  return (
    <Toast.Provider toastManager={toasts} timeout={6000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  return Toast.useToastManager().toasts.map(toast => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      swipeDirection="right"
      className="popup border-l-3 border-l-accent! data-limited:hidden"
    >
      <Toast.Content className="flex items-start gap-3 py-2.5 pr-1.5 pl-3">
        <div className="min-w-0 flex-1">
          <Toast.Title className="font-medium" />
          <Toast.Description className="text-sm text-ink-soft" />
        </div>
        <Toast.Close
          aria-label="Dismiss"
          className="grid size-6 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-sunken hover:text-ink"
        >
          <X aria-hidden className="size-3.5" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ))
}

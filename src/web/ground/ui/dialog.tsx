/** A dialog with a title, and its actions at the foot. The focus moves into it, stays there, and returns afterwards. */
import { Dialog as Base } from '@base-ui/react/dialog'
import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { type ReactNode, type SyntheticEvent, useRef } from 'react'
import { Button } from './button.tsx'

type DialogProps = {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  width?: 'narrow' | 'wide'
  /** True: only the dialog's own buttons close it, because something would be lost. */
  firm?: boolean
  children: ReactNode
}

/** The marked field, or else the first, gets the focus; after a touch none does, because the keyboard would cover the dialog. */
const MARKED = '[data-typed-first]'
const FIELDS = 'form :is(input,select,textarea):not([readonly])'

/** Whether another dialog is above. Escape and presses outside then belong to that one. */
const isBeneath = (popup: Element | null) =>
  Array.from(document.querySelectorAll('[role=dialog][data-open]')).at(-1) !== popup

export function Dialog({ open, onClose, title, description, width = 'narrow', firm = false, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={firm}
      onOpenChange={(next, details) => {
        if (next) return
        const isAside = details.reason === 'escape-key' || details.reason === 'outside-press'
        if (isAside && (firm || isBeneath(popup.current))) details.cancel()
        else onClose()
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-scrim transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Viewport className="fixed inset-0 z-40 grid place-items-end overflow-hidden sm:place-items-center sm:p-6">
          <Base.Popup
            ref={popup}
            initialFocus={opened =>
              opened === 'touch' ||
              (popup.current?.querySelector<HTMLElement>(MARKED) ??
                popup.current?.querySelector<HTMLElement>(FIELDS) ??
                true)
            }
            className={clsx(
              'popup flex max-h-[calc(100dvh-1.5rem)] w-full flex-col overflow-hidden max-sm:rounded-b-none sm:max-h-[calc(100dvh-3rem)]',
              width === 'wide' ? 'sm:max-w-3xl' : 'sm:max-w-md',
            )}
          >
            <header className="flex items-start gap-4 border-b border-line px-5 py-3.5">
              <div className="min-w-0 flex-1">
                <Base.Title className="text-lg">{title}</Base.Title>
                {description !== undefined && (
                  <Base.Description className="mt-0.5 text-ink-soft">{description}</Base.Description>
                )}
              </div>
              {!firm && (
                <Base.Close
                  aria-label="Close"
                  className="grid size-7 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-sunken hover:text-ink"
                >
                  <X aria-hidden className="size-4" />
                </Base.Close>
              )}
            </header>
            {children}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  )
}

/** The form of a dialog: its body scrolls, its foot stays. */
export function DialogForm({ onSubmit, children }: { onSubmit: (event: SyntheticEvent) => void; children: ReactNode }) {
  return (
    <form
      noValidate
      className="flex min-h-0 flex-col"
      onSubmit={event => {
        event.preventDefault()
        // A dialog opened from a form is a child of the form in React, which would submit that form too.
        event.stopPropagation()
        onSubmit(event)
      }}
    >
      {children}
    </form>
  )
}

export function DialogBody({ children, className }: { children: ReactNode; className?: string }) {
  return <div className={clsx('flex min-h-0 flex-col gap-4 overflow-y-auto px-5 py-4', className)}>{children}</div>
}

export function DialogFoot({ children }: { children: ReactNode }) {
  return <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{children}</footer>
}

type SaveFootProps = {
  /** What the button says. */
  action: string
  pending: boolean
  /** Why it cannot be pressed now. */
  reason?: string | undefined
  look?: 'primary' | 'danger'
  onCancel: () => void
}

/** The foot of a dialog's form: Cancel, and the button that submits. */
export function SaveFoot({ action, pending, reason, look = 'primary', onCancel }: SaveFootProps) {
  return (
    <DialogFoot>
      <Button onClick={onCancel}>Cancel</Button>
      <Button type="submit" look={look} pending={pending} reason={reason}>
        {action}
      </Button>
    </DialogFoot>
  )
}

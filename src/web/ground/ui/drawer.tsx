/** A panel from the side, for the navigation on narrow screens. */
import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'

export function Drawer({
  open,
  onClose,
  title,
  children,
}: {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
}) {
  return (
    <Base.Root open={open} onOpenChange={next => (next ? undefined : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-scrim transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup className="fixed inset-y-0 right-0 z-40 flex w-72 max-w-[85vw] flex-col gap-4 overflow-y-auto border-l border-line bg-canvas px-3 pt-3 pb-3 outline-none transition-transform duration-150 data-ending-style:translate-x-full data-starting-style:translate-x-full">
          <div className="flex items-center justify-between pl-2">
            <Base.Title className="text-lg">{title}</Base.Title>
            <Base.Close
              aria-label="Close the menu"
              className="grid size-9 place-items-center rounded-md text-ink-soft hover:bg-sunken"
            >
              <X aria-hidden className="size-4" />
            </Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

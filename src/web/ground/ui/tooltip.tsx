/** Words on hover and keyboard focus. Never the only place they are said: the trigger carries them for screen readers itself. */
import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement } from 'react'

export const TooltipProvider = Base.Provider

type TooltipProps = {
  /** Undefined while there is nothing to say. */
  words: string | undefined
  children: ReactElement<Record<string, unknown>>
}

export function Tooltip({ words, children }: TooltipProps) {
  return (
    <Base.Root disabled={words === undefined}>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="z-50">
          <Base.Popup className="max-w-72 rounded-md bg-ink px-2 py-1 text-sm text-canvas shadow-raised">
            {words}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

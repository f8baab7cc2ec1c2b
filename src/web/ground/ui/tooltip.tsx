/** Words shown on hover and keyboard focus. The trigger must also hold them for screen readers. */
import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement } from 'react'

export const TooltipProvider = Base.Provider

type TooltipProps = {
  /** Undefined: no tooltip. */
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

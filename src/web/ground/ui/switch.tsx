/** A switch that acts at once. One that may not be turned stays visible and says why (`reason`). */
import { clsx } from 'clsx'
import { useId } from 'react'
import { notify } from './toast.tsx'
import { Tooltip } from './tooltip.tsx'

type SwitchProps = {
  /** Its name for screen readers. */
  label: string
  on: boolean
  pending?: boolean
  reason?: string | undefined
  onTurn: (on: boolean) => void
}

export function Switch({ label, on, pending = false, reason, onTurn }: SwitchProps) {
  const id = useId()
  const off = reason !== undefined
  const press = () => {
    // A tap shows no tooltip, so a press shows the reason.
    if (off) notify(reason)
    else if (!pending) onTurn(!on)
  }
  return (
    <Tooltip words={reason}>
      <button
        type="button"
        role="switch"
        aria-checked={on}
        aria-label={label}
        aria-disabled={off || pending || undefined}
        aria-busy={pending || undefined}
        aria-describedby={off ? id : undefined}
        onClick={press}
        className="inline-flex h-8 items-center px-1 align-middle pointer-coarse:h-10"
      >
        <span
          className={clsx(
            'flex h-4.5 w-8 items-center rounded-full border p-0.5 transition-colors',
            on ? 'justify-end border-transparent bg-accent' : 'justify-start border-line-strong bg-sunken',
            (off || pending) && 'opacity-50',
          )}
        >
          <span className={clsx('size-3 rounded-full', on ? 'bg-on-accent' : 'bg-line-strong')} />
        </span>
        {off && (
          <span id={id} hidden>
            {reason}
          </span>
        )}
      </button>
    </Tooltip>
  )
}

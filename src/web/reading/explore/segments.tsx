/** A row of buttons of which one is current, such as presets or views. */
import { clsx } from 'clsx'

type Segment = { title: string; hint?: string; isNow: boolean; onSelect: (() => void) | undefined }

/** A segment without `onSelect` is disabled. */
export function Segments({ label, segments }: { label: string; segments: readonly Segment[] }) {
  return (
    <nav aria-label={label} className="flex shrink-0 rounded-md border border-line bg-sunken p-0.5">
      {segments.map(({ title, hint, isNow, onSelect }) => (
        <button
          key={title}
          type="button"
          aria-current={isNow ? 'true' : undefined}
          disabled={onSelect === undefined}
          title={hint}
          onClick={onSelect}
          className={clsx(
            'flex h-6 shrink-0 items-center rounded-sm px-2 text-sm font-medium disabled:text-ink-faint/60 pointer-coarse:h-8',
            isNow ? 'bg-raised text-ink shadow-[0_1px_2px_var(--shade)]' : 'text-ink-soft enabled:hover:text-ink',
          )}
        >
          {title}
        </button>
      ))}
    </nav>
  )
}

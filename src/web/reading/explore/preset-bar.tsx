/** The presets, one press each, and the order that shows the largest losses first. */
import { clsx } from 'clsx'
import { TrendingDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../ground/ui/button.tsx'
import type { Words } from './level-chips.tsx'
import { byPreset, isBy, type Preset, WORST_FIRST } from './presets.ts'
import type { Change, ExploreSearch } from './search.ts'

type PresetBarProps = {
  presets: readonly Preset[]
  search: ExploreSearch
  words: Words
  onChange: Change
  children?: ReactNode
}

export function PresetBar({ presets, search, words, onChange, children }: PresetBarProps) {
  const isWorstFirst = search.sort === WORST_FIRST
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
      <div className="-m-0.5 flex max-w-full items-center gap-2 overflow-x-auto p-0.5">
        <nav aria-label="Presets" className="flex shrink-0 rounded-md border border-line bg-sunken p-0.5">
          {presets.map(({ title, dimension }) => {
            const isNow = dimension !== undefined && isBy(dimension, search)
            return (
              <button
                key={title}
                type="button"
                aria-current={isNow ? 'true' : undefined}
                disabled={dimension === undefined}
                title={dimension === undefined ? 'The traffic source sends none' : words(dimension)}
                onClick={() => dimension !== undefined && onChange(byPreset(dimension, search))}
                className={clsx(
                  'flex h-6 shrink-0 items-center rounded-sm px-2 text-sm font-medium disabled:text-ink-faint/60 pointer-coarse:h-8',
                  isNow ? 'bg-raised text-ink shadow-[0_1px_2px_var(--shade)]' : 'text-ink-soft enabled:hover:text-ink',
                )}
              >
                {title}
              </button>
            )
          })}
        </nav>
        <Button
          look={isWorstFirst ? 'plain' : 'quiet'}
          size="sm"
          icon={TrendingDown}
          aria-pressed={isWorstFirst}
          onClick={() => onChange({ sort: isWorstFirst ? undefined : WORST_FIRST, view: undefined })}
        >
          Worst first
        </Button>
      </div>
      <div className="flex flex-wrap items-center gap-x-4 lg:ml-auto">{children}</div>
    </div>
  )
}

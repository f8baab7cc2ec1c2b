/** The presets, and the order with the largest losses first. */
import { TrendingDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../ground/ui/button.tsx'
import type { Words } from './level-chips.tsx'
import { byPreset, isBy, type Preset, WORST_FIRST } from './presets.ts'
import type { Change, ExploreSearch } from './search.ts'
import { Segments } from './segments.tsx'

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
        <Segments
          label="Presets"
          segments={presets.map(({ title, dimension }) => ({
            title,
            hint: dimension === undefined ? 'The campaign’s traffic source sends no such value' : words(dimension),
            isNow: dimension !== undefined && isBy(dimension, search),
            onSelect: dimension && (() => onChange(byPreset(dimension, search))),
          }))}
        />
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

/** The levels of the rows as chips in one line. A chip's menu changes, moves or removes its level; chips can be dragged too. */
import { ChevronRight, GripVertical, Plus, X } from 'lucide-react'
import { Fragment, useState } from 'react'
import { MOST_LEVELS } from '../../../contract/explore.ts'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { OFFERED } from './dimensions.ts'

export type Words = (dimension: ExploreDimension) => string

type LevelChipsProps = {
  levels: readonly ExploreDimension[]
  words: Words
  onChange: (levels: readonly ExploreDimension[]) => void
}

/** The levels with one of them moved. */
function moved(levels: readonly ExploreDimension[], from: number, to: number): readonly ExploreDimension[] {
  const [one] = levels.slice(from, from + 1)
  return one === undefined ? levels : levels.toSpliced(from, 1).toSpliced(to, 0, one)
}

export function LevelChips({ levels, words, onChange }: LevelChipsProps) {
  const [dragged, setDragged] = useState<number>()
  return (
    <fieldset className="flex min-w-0 flex-wrap items-center gap-1">
      <legend className="sr-only">Levels</legend>
      <span aria-hidden className="w-12 shrink-0 text-sm text-ink-faint">
        By
      </span>
      {levels.map((level, at) => (
        <Fragment key={level}>
          {at > 0 && <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-faint" />}
          <span
            onDragOver={event => dragged !== undefined && event.preventDefault()}
            onDrop={() => dragged !== undefined && onChange(moved(levels, dragged, at))}
            className="chip"
          >
            {levels.length > 1 && (
              // A handle, because pressing the name opens its menu. Without a mouse the menu moves the level.
              <span
                aria-hidden
                draggable
                title="Drag to another place"
                onDragStart={() => setDragged(at)}
                onDragEnd={() => setDragged(undefined)}
                className="grid h-full w-4 cursor-grab place-items-center text-ink-faint hover:text-ink pointer-coarse:hidden"
              >
                <GripVertical className="size-3" />
              </span>
            )}
            <LevelMenu levels={levels} at={at} words={words} onChange={onChange} />
            {levels.length > 1 && (
              <button
                type="button"
                aria-label={`Remove the level ${words(level)}`}
                className="chip-end"
                onClick={() => onChange(levels.toSpliced(at, 1))}
              >
                <X aria-hidden className="size-3.5" />
              </button>
            )}
          </span>
        </Fragment>
      ))}
      {levels.length < MOST_LEVELS && (
        <Menu
          wide
          align="start"
          trigger={
            <Button look="quiet" size="sm" icon={Plus}>
              Level
            </Button>
          }
        >
          <DimensionChoices
            words={words}
            isOffered={one => !levels.includes(one)}
            onChange={one => onChange([...levels, one])}
          />
        </Menu>
      )}
    </fieldset>
  )
}

type LevelMenuProps = LevelChipsProps & { at: number }

function LevelMenu({ levels, at, words, onChange }: LevelMenuProps) {
  const level = levels[at] as ExploreDimension
  return (
    <Menu
      wide
      align="start"
      trigger={
        <button type="button" className="chip-words">
          {words(level)}
        </button>
      }
    >
      {at > 0 && <MenuItem onSelect={() => onChange(moved(levels, at, at - 1))}>Move up a level</MenuItem>}
      {at < levels.length - 1 && (
        <MenuItem onSelect={() => onChange(moved(levels, at, at + 1))}>Move down a level</MenuItem>
      )}
      {levels.length > 1 && <MenuLine />}
      <DimensionChoices
        words={words}
        value={level}
        isOffered={one => one === level || !levels.includes(one)}
        onChange={one => onChange(levels.with(at, one))}
      />
    </Menu>
  )
}

type DimensionChoicesProps = {
  words: Words
  value?: ExploreDimension
  isOffered: (dimension: ExploreDimension) => boolean
  onChange: (dimension: ExploreDimension) => void
}

/** The dimensions of a menu, in their groups. */
export function DimensionChoices({ words, value, isOffered, onChange }: DimensionChoicesProps) {
  return OFFERED.map(({ title, dimensions }) => {
    const offered = dimensions.filter(isOffered)
    return (
      offered.length > 0 && (
        <MenuChoice
          key={title}
          label={title}
          value={value ?? ''}
          options={offered.map(one => ({ value: one, label: words(one) }))}
          onChange={chosen => {
            const one = offered.find(dimension => dimension === chosen)
            if (one !== undefined) onChange(one)
          }}
        />
      )
    )
  })
}

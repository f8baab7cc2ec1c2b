/** Which columns there are and in which order, figures of one's own, and from where on a figure is good or bad. */
import { ArrowDown, ArrowUp } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { Checkbox } from '../../ground/ui/field.tsx'
import { type Column, columnsInAddress, columnsOf, measureColumns, OWN } from './columns.ts'
import { OwnFigures, wrongOf } from './own-figures.tsx'
import type { Change, ExploreSearch, Own, Threshold } from './search.ts'
import { Thresholds } from './thresholds.tsx'

type ColumnsDialogProps = { isOpen: boolean; search: ExploreSearch; onChange: Change; onClose: () => void }

export function ColumnsDialog({ isOpen, onClose, ...rest }: ColumnsDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onClose={onClose}
      title="Columns"
      description="What is shown, in which order, what you work out of it, and what is coloured. The address keeps it all."
      width="wide"
    >
      <ColumnsForm onClose={onClose} {...rest} />
    </Dialog>
  )
}

function ColumnsForm({ search, onChange, onClose }: Omit<ColumnsDialogProps, 'isOpen'>) {
  const [ids, setIds] = useState<readonly string[]>(() => columnsOf(search).map(({ id }) => id))
  const [own, setOwn] = useState<readonly Own[]>(search.own ?? [])
  const [colours, setColours] = useState<readonly Threshold[]>(search.colours ?? [])
  const known = [
    ...measureColumns(),
    ...columnsOf({ columns: own.map(([name]) => OWN + name).join(','), own: [...own] }),
  ]
  const shown = ids.flatMap(id => known.find(one => one.id === id) ?? [])
  const hidden = known.filter(one => !ids.includes(one.id))
  const reason = wrongOf(own) ?? (shown.length === 0 ? 'Choose a column.' : undefined)
  const save = () => {
    if (reason !== undefined) return
    const held = colours.filter(([id]) => known.some(one => one.id === id))
    onChange({
      own: own.length === 0 ? undefined : [...own],
      columns: columnsInAddress(
        shown.map(({ id }) => id),
        own,
      ),
      colours: held.length === 0 ? undefined : held,
    })
    onClose()
  }
  return (
    <DialogForm onSubmit={save}>
      <DialogBody className="gap-5!">
        <Order shown={shown} hidden={hidden} onChange={setIds} />
        <Part
          title="Your own figures"
          words="Worked out of the figures of each row, such as (revenue - cost) / landed. Shares are parts of 1."
        >
          <OwnFigures
            own={own}
            onChange={(next, renamed) => {
              setOwn(next)
              setIds(before => {
                const after = before.map(id => (renamed !== undefined && id === renamed[0] ? renamed[1] : id))
                const added = next.map(([name]) => OWN + name).filter(id => !after.includes(id))
                return next.length > own.length ? [...after, ...added] : after
              })
            }}
          />
        </Part>
        <Part title="Colours" words="Of several that hold, the last is shown. Shares are in per cent.">
          <Thresholds colours={colours} columns={known} onChange={setColours} />
        </Part>
      </DialogBody>
      <SaveFoot action="Show" pending={false} reason={reason} onCancel={onClose} />
    </DialogForm>
  )
}

function Part({ title, words, children }: { title: string; words: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2 border-t border-line pt-4">
      <div>
        <h3>{title}</h3>
        <p className="text-sm text-ink-faint">{words}</p>
      </div>
      {children}
    </section>
  )
}

type OrderProps = { shown: readonly Column[]; hidden: readonly Column[]; onChange: (ids: readonly string[]) => void }

function Order({ shown, hidden, onChange }: OrderProps) {
  const ids = shown.map(({ id }) => id)
  const [dragged, setDragged] = useState<number>()
  const move = (from: number, to: number) => {
    const id = ids[from]
    if (id !== undefined && to >= 0 && to < ids.length) onChange(ids.toSpliced(from, 1).toSpliced(to, 0, id))
  }
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <fieldset className="min-w-0">
        <legend className="mb-1 font-medium">Shown, from the left</legend>
        <ol>
          {shown.map((column, at) => (
            // The arrows beside do the same by keyboard.
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
            <li
              key={column.id}
              draggable
              onDragStart={() => setDragged(at)}
              onDragEnd={() => setDragged(undefined)}
              onDragOver={event => dragged !== undefined && event.preventDefault()}
              onDrop={() => dragged !== undefined && move(dragged, at)}
              className="flex h-7 items-center gap-1 rounded-md px-1 hover:bg-sunken pointer-coarse:h-10"
            >
              <Checkbox
                className="min-w-0 flex-1"
                label={column.title}
                checked
                onChange={() => onChange(ids.filter(id => id !== column.id))}
              />
              <IconButton
                size="sm"
                icon={ArrowUp}
                label={`${column.title} to the left`}
                onClick={() => move(at, at - 1)}
              />
              <IconButton
                size="sm"
                icon={ArrowDown}
                label={`${column.title} to the right`}
                onClick={() => move(at, at + 1)}
              />
            </li>
          ))}
        </ol>
      </fieldset>
      <fieldset className="min-w-0">
        <legend className="mb-1 font-medium">Not shown</legend>
        {hidden.map(column => (
          <div key={column.id} className="flex min-h-7 items-center px-1 pointer-coarse:h-10">
            <Checkbox
              label={
                <>
                  {column.title} {column.means !== undefined && <span className="text-ink-faint">{column.means}</span>}
                </>
              }
              checked={false}
              onChange={() => onChange([...ids, column.id])}
            />
          </div>
        ))}
      </fieldset>
    </div>
  )
}

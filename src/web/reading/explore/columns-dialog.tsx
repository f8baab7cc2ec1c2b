/** The dialog for columns, their order, formulas, and the limits from which figures are coloured. */
import { useMutation } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, RotateCcw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { EventType } from '../../../contract/event-types.ts'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { Checkbox } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { useChosenColumns } from './chosen-columns.ts'
import { type ChosenColumns, type Column, columnsOf, measureColumns, OWN } from './columns.ts'
import { CustomColumns, wrongOf } from './custom-columns.tsx'
import type { Change, ExploreSearch, Own, Threshold } from './search.ts'
import { Thresholds } from './thresholds.tsx'

type ColumnsDialogProps = {
  isOpen: boolean
  search: ExploreSearch
  /** The types of events that have a column to choose. */
  types: readonly EventType[]
  onChange: Change
  onClose: () => void
}

export function ColumnsDialog({ isOpen, onClose, ...rest }: ColumnsDialogProps) {
  return (
    <Dialog
      open={isOpen}
      onClose={onClose}
      title="Columns"
      description="Choose and order columns, add formulas, and colour figures."
      width="wide"
    >
      <ColumnsForm onClose={onClose} {...rest} />
    </Dialog>
  )
}

function ColumnsForm({ search, types, onChange, onClose }: Omit<ColumnsDialogProps, 'isOpen'>) {
  const { usual, complete, choose } = useChosenColumns()
  const [ids, setIds] = useState<readonly string[]>(() => columnsOf(search).map(({ id }) => id))
  const [own, setOwn] = useState<readonly Own[]>(search.own ?? [])
  const [colours, setColours] = useState<readonly Threshold[]>(search.colours ?? [])
  // Off for the columns of a view or a colleague's link.
  const [isMine, setMine] = useState(() => complete({}).columns === search.columns)
  const known = [
    ...measureColumns(types),
    ...columnsOf({ columns: own.map(([name]) => OWN + name).join(','), own: [...own] }),
  ]
  const shown = ids.flatMap(id => known.find(one => one.id === id) ?? [])
  const hidden = known.filter(one => !ids.includes(one.id))
  const reason = wrongOf(own) ?? (shown.length === 0 ? 'Choose a column.' : undefined)
  const saving = useMutation({
    mutationFn: async () => {
      const held = colours.filter(([id]) => known.some(one => one.id === id))
      const next = {
        columns: shown.map(({ id }) => id).join(),
        own: own.length === 0 ? undefined : [...own],
        colours: held.length === 0 ? undefined : held,
      }
      if (isMine) await choose(isUsual(next, usual) ? undefined : next)
      return next
    },
    onSuccess: next => {
      onChange(next)
      onClose()
    },
  })
  return (
    <DialogForm onSubmit={() => reason === undefined && saving.mutate()}>
      <DialogBody className="gap-5!">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Checkbox
            label="Use these columns whenever I open Report"
            checked={isMine}
            onChange={({ target }) => setMine(target.checked)}
          />
          <Button
            look="quiet"
            size="sm"
            icon={RotateCcw}
            onClick={() => {
              setIds(usual)
              setOwn([])
              setColours([])
            }}
          >
            Reset to default
          </Button>
        </div>
        <Order shown={shown} hidden={hidden} onChange={setIds} />
        <Part
          title="Custom columns"
          words="Formulas of the other columns, such as (revenue - cost) / landed. Shares are parts of 1."
        >
          <CustomColumns
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
        <Part title="Colours" words="If several rules match, the last one applies. Shares are in per cent.">
          <Thresholds colours={colours} columns={known} onChange={setColours} />
        </Part>
        <RefusalNote refused={saving.error} />
      </DialogBody>
      <SaveFoot action="Apply" pending={saving.isPending} reason={reason} onCancel={onClose} />
    </DialogForm>
  )
}

const isUsual = ({ columns, own, colours }: ChosenColumns, usual: readonly string[]): boolean =>
  own === undefined && colours === undefined && columns === usual.join()

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
        <legend className="mb-1 font-medium">Shown</legend>
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

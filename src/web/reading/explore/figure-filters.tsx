/** Filters on the figures of rows of the last level: chips beside the other filters, and their dialog. */
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { EventType } from '../../../contract/event-types.ts'
import { MOST_HAVING } from '../../../contract/explore.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { type Column, measureColumns } from './columns.ts'
import { FilterChip, useFilterDialog } from './filter-chip.tsx'
import { FIGURE_CONDITIONS, type FigureFilter } from './search.ts'

const FIGURE_CONDITION_WORDS: Readonly<Record<FigureFilter[1], string>> = {
  below: 'below',
  at_most: 'at most',
  above: 'above',
  at_least: 'at least',
  equals: 'equals',
  not_equals: 'is not',
}

type FigureFiltersProps = {
  having: readonly FigureFilter[]
  /** The types of events that have a figure. */
  types: readonly EventType[]
  onChange: (having: readonly FigureFilter[]) => void
}

export function FigureFilters({ having, types, onChange }: FigureFiltersProps) {
  const { filter: edited, isOpen, edit, close, save, remove } = useFilterDialog(having, onChange)
  const columns = measureColumns(types)
  return (
    <>
      {having.map((filter, at) => {
        const [id, compared, value] = filter
        const column = columns.find(one => one.id === id)
        return (
          <FilterChip
            key={JSON.stringify(filter)}
            head={`${column?.title ?? id} ${FIGURE_CONDITION_WORDS[compared]}`}
            values={inUnit(column, value)}
            onEdit={() => edit(at)}
            onRemove={() => remove(at)}
          />
        )
      })}
      <Button
        look="quiet"
        size="sm"
        icon={Plus}
        reason={having.length < MOST_HAVING ? undefined : `At most ${MOST_HAVING} filters on figures.`}
        onClick={() => edit(having.length)}
      >
        Figure filter
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title="Figure filter"
        description="Keeps the rows of the last level that match; totals are of these rows."
      >
        <FigureForm filter={edited} columns={columns} onClose={close} onSave={save} />
      </Dialog>
    </>
  )
}

const UNIT_OF: Readonly<Partial<Record<Column['shape'], string>>> = { percent: '%', money: '$', unit: '$' }

function inUnit(column: Column | undefined, value: number): string {
  const written = String(value).replace('-', '−')
  const unit = column && UNIT_OF[column.shape]
  return unit === undefined ? written : unit === '%' ? `${written}%` : `${unit}${written}`
}

type FigureFormProps = {
  filter: FigureFilter | undefined
  columns: readonly Column[]
  onClose: () => void
  onSave: (filter: FigureFilter) => void
}

function FigureForm({ filter, columns, onClose, onSave }: FigureFormProps) {
  const [id, setId] = useState<string>(filter?.[0] ?? 'roi')
  const [compared, setCompared] = useState(filter?.[1] ?? 'below')
  const [value, setValue] = useState(filter?.[2])
  const column = columns.find(one => one.id === id)
  const unit = column && UNIT_OF[column.shape]
  const reason = value === undefined ? 'Enter a value.' : undefined
  return (
    <DialogForm onSubmit={() => value !== undefined && onSave([id as FigureFilter[0], compared, value])}>
      <DialogBody>
        <div className="grid grid-cols-3 gap-3">
          <SelectField label="Figure" value={id} onChange={({ target }) => setId(target.value)}>
            {columns.map(one => (
              <option key={one.id} value={one.id}>
                {one.title}
              </option>
            ))}
          </SelectField>
          <SelectField
            label="Condition"
            value={compared}
            onChange={({ target }) => setCompared(FIGURE_CONDITIONS.find(one => one === target.value) ?? 'below')}
          >
            {FIGURE_CONDITIONS.map(one => (
              <option key={one} value={one}>
                {FIGURE_CONDITION_WORDS[one]}
              </option>
            ))}
          </SelectField>
          <TextField
            label={unit === undefined ? 'Value' : `Value, ${unit}`}
            type="number"
            step="any"
            defaultValue={value}
            onChange={({ target }) => setValue(Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber)}
          />
        </div>
      </DialogBody>
      <SaveFoot
        action={filter === undefined ? 'Add filter' : 'Change filter'}
        pending={false}
        reason={reason}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

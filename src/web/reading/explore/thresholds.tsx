/** The form of colour rules: a column and the limit above or below which its figures are coloured. */
import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import type { Column } from './columns.ts'
import { MOST_THRESHOLDS, type Threshold } from './search.ts'

type ThresholdsProps = {
  colours: readonly Threshold[]
  columns: readonly Column[]
  onChange: (colours: readonly Threshold[]) => void
}

export function Thresholds({ colours, columns, onChange }: ThresholdsProps) {
  return (
    <>
      {colours.map(([id, side, limit, tone], at) => {
        const set = (next: Threshold) => onChange(colours.with(at, next))
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: two rules may be equal.
          <div key={at} className="flex flex-wrap items-start gap-2">
            <SelectField
              label="Column"
              hideLabel
              className="w-32 grow sm:grow-0"
              value={id}
              onChange={({ target }) => set([target.value, side, limit, tone])}
            >
              {columns.map(column => (
                <option key={column.id} value={column.id}>
                  {column.title}
                </option>
              ))}
            </SelectField>
            <SelectField
              label="Side"
              hideLabel
              className="w-24"
              value={side}
              onChange={({ target }) => set([id, target.value as 'above', limit, tone])}
            >
              <option value="above">above</option>
              <option value="below">below</option>
            </SelectField>
            <TextField
              label="Limit"
              hideLabel
              type="number"
              step="any"
              className="w-24"
              defaultValue={limit}
              onChange={({ target }) =>
                Number.isFinite(target.valueAsNumber) && set([id, side, target.valueAsNumber, tone])
              }
            />
            <SelectField
              label="Colour"
              hideLabel
              className="w-24"
              value={tone}
              onChange={({ target }) => set([id, side, limit, target.value as 'good'])}
            >
              <option value="good">green</option>
              <option value="bad">red</option>
            </SelectField>
            <IconButton icon={X} label="Remove the colour" onClick={() => onChange(colours.toSpliced(at, 1))} />
          </div>
        )
      })}
      <div>
        <Button
          size="sm"
          icon={Plus}
          reason={colours.length < MOST_THRESHOLDS ? undefined : `At most ${MOST_THRESHOLDS} colours.`}
          onClick={() => onChange([...colours, ['roi', 'below', 0, 'bad']])}
        >
          Add colour
        </Button>
      </div>
    </>
  )
}

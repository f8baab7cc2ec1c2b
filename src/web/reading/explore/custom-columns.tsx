/** The form of custom columns: name, formula and format. */
import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { NAMES, OWN } from './columns.ts'
import { MEASURES } from '../../../contract/explore-measures.ts'
import { readFormula } from '../../../contract/formula.ts'
import { MOST_CUSTOM_COLUMNS, type Own, COLUMN_FORMATS, type ColumnFormat } from './search.ts'

/** Why the columns cannot be saved. */
export function wrongOf(own: readonly Own[]): string | undefined {
  const wrong = own.find(one => wrongFormula(one) !== undefined || wrongName(one, own) !== undefined)
  return wrong && `Check “${wrong[0]}”.`
}

function wrongFormula([, expression]: Own): string | undefined {
  const formula = readFormula(expression, NAMES)
  return 'wrong' in formula ? formula.wrong : undefined
}

function wrongName([name]: Own, own: readonly Own[]): string | undefined {
  if (name.trim() === '') return 'Name is required'
  if (name.includes(',')) return 'No commas in the name'
  return own.filter(one => one[0] === name).length > 1 ? 'This name is used twice' : undefined
}

const FORMAT_WORDS: Readonly<Record<ColumnFormat, string>> = { number: 'Number', money: 'Money', percent: 'Per cent' }

type CustomColumnsProps = {
  own: readonly Own[]
  /** `renamed`: a column's id before and after. */
  onChange: (own: readonly Own[], renamed?: readonly [string, string]) => void
}

export function CustomColumns({ own, onChange }: CustomColumnsProps) {
  return (
    <>
      {own.map((one, at) => {
        const [name, expression, shape] = one
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: name and formula change while a person types.
          <div key={at} className="flex flex-wrap items-start gap-2">
            <TextField
              label="Name"
              hideLabel
              placeholder="Name"
              className="w-32 grow sm:grow-0"
              maxLength={40}
              value={name}
              error={name === '' ? undefined : wrongName(one, own)}
              onChange={({ target }) =>
                onChange(own.with(at, [target.value, expression, shape]), [OWN + name, OWN + target.value])
              }
            />
            <TextField
              label="Formula"
              hideLabel
              placeholder="revenue / clicks"
              className="w-64 grow"
              spellCheck={false}
              autoComplete="off"
              value={expression}
              error={expression === '' ? undefined : wrongFormula(one)}
              onChange={({ target }) => onChange(own.with(at, [name, target.value, shape]))}
            />
            <SelectField
              label="Shown as"
              hideLabel
              className="w-28"
              value={shape}
              onChange={({ target }) => onChange(own.with(at, [name, expression, target.value as ColumnFormat]))}
            >
              {COLUMN_FORMATS.map(form => (
                <option key={form} value={form}>
                  {FORMAT_WORDS[form]}
                </option>
              ))}
            </SelectField>
            <IconButton icon={X} label={`Remove the column ${name}`} onClick={() => onChange(own.toSpliced(at, 1))} />
          </div>
        )
      })}
      {own.length > 0 && (
        <p className="text-sm text-ink-faint">
          Available: {[...MEASURES, 'events_lead'].join(', ')} and other types of events.
        </p>
      )}
      <div>
        <Button
          size="sm"
          icon={Plus}
          reason={own.length < MOST_CUSTOM_COLUMNS ? undefined : `At most ${MOST_CUSTOM_COLUMNS} custom columns.`}
          onClick={() => onChange([...own, [`Column ${own.length + 1}`, '', 'number']])}
        >
          Add column
        </Button>
      </div>
    </>
  )
}

/** The parameters of a source: a line for each field it fills. */
import { clsx } from 'clsx'
import { Trash2 } from 'lucide-react'
import { FILLED_FIELDS, type FilledField, type SourceParameter } from '../../../traffic/sources/api.ts'
import { Button } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'

type ParametersFieldProps = {
  parameters: readonly SourceParameter[]
  onChange: (parameters: SourceParameter[]) => void
}

export function ParametersField({ parameters, onChange }: ParametersFieldProps) {
  const isFree = (field: FilledField) => parameters.every(one => one.field !== field)
  const free = FILLED_FIELDS.find(isFree)
  const change = (at: number, more: Partial<SourceParameter>) =>
    onChange(parameters.map((one, place) => (place === at ? { ...one, ...more } : one)))
  return (
    <div className="flex flex-col gap-3">
      {parameters.map((one, at) => (
        <fieldset
          key={one.field}
          aria-label={`Parameter for ${one.field}`}
          // In columns, the labels of the first line are the column heads. On a phone each line shows its own.
          className={clsx(
            'grid grid-cols-2 items-end gap-2 sm:grid-cols-[7rem_1fr_1.4fr_1fr_auto]',
            at > 0 && 'sm:[&_label]:sr-only',
          )}
        >
          <SelectField
            label="Field"
            value={one.field}
            onChange={event => change(at, { field: event.target.value as FilledField })}
          >
            {FILLED_FIELDS.filter(field => field === one.field || isFree(field)).map(field => (
              <option key={field} value={field}>
                {field}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Parameter"
            className="[&_input]:font-mono"
            spellCheck={false}
            autoComplete="off"
            value={one.parameter}
            onChange={event => change(at, { parameter: event.target.value })}
          />
          <TextField
            label="Macro"
            className="[&_input]:font-mono"
            placeholder="none: source appends it"
            spellCheck={false}
            autoComplete="off"
            value={one.macro ?? ''}
            onChange={event => change(at, { macro: event.target.value === '' ? null : event.target.value })}
          />
          <TextField
            label="Name"
            autoComplete="off"
            value={one.label ?? ''}
            onChange={event => change(at, { label: event.target.value === '' ? null : event.target.value })}
          />
          <Button
            look="quiet"
            aria-label={`Remove ${one.field}`}
            onClick={() => onChange(parameters.filter((_, place) => place !== at))}
          >
            <Trash2 aria-hidden className="size-4" />
          </Button>
        </fieldset>
      ))}
      {free !== undefined && (
        <Button
          className="self-start"
          onClick={() => onChange([...parameters, { field: free, parameter: free, macro: null, label: null }])}
        >
          Add parameter
        </Button>
      )}
    </div>
  )
}

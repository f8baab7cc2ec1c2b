/** The checkboxes for the event types of a goal, the usual ones first. */
import type { EventType } from '../../../contract/event-types.ts'
import { GOAL_TYPES } from './goals.ts'
import { inWords } from '../rungs.ts'
import { Checkbox } from '../ui/field.tsx'

type GoalTypesProps = {
  legend: string
  types: readonly EventType[]
  error?: string | undefined
  onChange: (types: EventType[]) => void
}

export function GoalTypes({ legend, types, error, onChange }: GoalTypesProps) {
  const tick = (type: EventType, isTicked: boolean) =>
    onChange(GOAL_TYPES.filter(one => (one === type ? isTicked : types.includes(one))))
  return (
    <fieldset>
      <legend className="sr-only">{legend}</legend>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {GOAL_TYPES.map(type => (
          <Checkbox
            key={type}
            label={inWords(type)}
            checked={types.includes(type)}
            onChange={event => tick(type, event.target.checked)}
          />
        ))}
      </div>
      {error !== undefined && <p className="mt-2 text-sm text-bad">{error}</p>}
    </fieldset>
  )
}

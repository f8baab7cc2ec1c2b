/** Which conversions are the campaign's: those that the workspace has chosen, else those that its offers pay for; or its own. */
import type { UseFormReturn } from 'react-hook-form'
import { GoalTypes } from '../../ground/figures/goal-types.tsx'
import { typesInWords, useEventSettings } from '../../ground/figures/goals.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import type { Draft } from './draft.ts'

export function GoalField({ form }: { form: UseFormReturn<Draft, unknown, Draft> }) {
  const usual = useEventSettings().goal
  const own = form.watch('goal') ?? null
  const set = (goal: Draft['goal']) => form.setValue('goal', goal, { shouldDirty: true, shouldValidate: own !== null })
  return (
    <>
      <SelectField
        label="Goal"
        hint="The conversions that its CR and CPA count, for the past as well."
        className="max-w-xs"
        value={own === null ? 'usual' : 'own'}
        onChange={event => set(event.target.value === 'usual' ? null : [...(usual ?? [])])}
      >
        <option value="usual">
          {usual === null ? 'What its offers pay for' : `As the workspace: ${typesInWords(usual)}`}
        </option>
        <option value="own">Its own…</option>
      </SelectField>
      {own !== null && (
        <GoalTypes
          legend="Conversions that are its goal"
          types={own}
          error={form.formState.errors.goal === undefined ? undefined : 'Tick at least one.'}
          onChange={set}
        />
      )}
    </>
  )
}

/** The campaign's goal: its own types, or the workspace's, or those that its offers pay for. */
import type { UseFormReturn } from 'react-hook-form'
import { GoalTypes } from '../../ground/figures/goal-types.tsx'
import { typesInWords, useEventSettings } from '../../ground/figures/goals.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import type { CampaignValues } from './draft.ts'

export function GoalField({ form }: { form: UseFormReturn<CampaignValues, unknown, CampaignValues> }) {
  const usual = useEventSettings().goal
  const own = form.watch('goal') ?? null
  const set = (goal: CampaignValues['goal']) =>
    form.setValue('goal', goal, { shouldDirty: true, shouldValidate: own !== null })
  return (
    <>
      <SelectField
        label="Goal"
        hint="The conversions that CR and CPA count, also for past days."
        className="max-w-xs"
        value={own === null ? 'usual' : 'own'}
        onChange={event => set(event.target.value === 'usual' ? null : [...(usual ?? [])])}
      >
        <option value="usual">
          {usual === null ? 'What its offers pay for' : `Same as workspace: ${typesInWords(usual)}`}
        </option>
        <option value="own">Custom…</option>
      </SelectField>
      {own !== null && (
        <GoalTypes
          legend="Goal conversions"
          types={own}
          error={form.formState.errors.goal === undefined ? undefined : 'Tick at least one.'}
          onChange={set}
        />
      )}
    </>
  )
}

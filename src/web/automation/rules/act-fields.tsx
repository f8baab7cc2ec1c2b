/** What a rule does, when an object comes back, and from where on it asks first. */
import { useQuery } from '@tanstack/react-query'
import { CAP_PERIODS } from '../../../traffic/caps/api.ts'
import { LEFT_OUT_FIELDS } from '../../../traffic/left-out/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { RuleConditions } from './condition-fields.tsx'
import type { RuleFormProps } from './form-values.ts'
import { ReceiverChoice } from './receiver-choice.tsx'

export function ThenFields({ form }: RuleFormProps) {
  const [value_of, does] = [form.watch('value_of'), form.watch('does')]
  const canLeaveOut = (LEFT_OUT_FIELDS as readonly string[]).includes(value_of)
  const canWeigh = value_of === 'landing' || value_of === 'offer'
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <SelectField label="Then" error={form.formState.errors.does?.message} {...form.register('does')}>
          <option value="nothing">Change nothing</option>
          {canLeaveOut && <option value="leave_out">Leave it out</option>}
          <option value="pause">Pause the campaign</option>
          {canWeigh && <option value="weights">Change its share of the funnel</option>}
          <option value="cap">Cap the clicks of the campaign</option>
        </SelectField>
        {does === 'leave_out' && <GoalField form={form} />}
        {does === 'weights' && <TextField label="Share, %" inputMode="decimal" {...form.register('share')} />}
        {does === 'cap' && (
          <>
            <TextField label="Clicks" inputMode="numeric" {...form.register('limit')} />
            <SelectField label="Per" {...form.register('period')}>
              {CAP_PERIODS.map(period => (
                <option key={period} value={period}>
                  {period === 'total' ? 'in total' : `a ${period}`}
                </option>
              ))}
            </SelectField>
          </>
        )}
        <Checkbox
          className="self-end pb-1.5"
          label="Tell receivers"
          words="Once when it begins, and once when it is over."
          {...form.register('tells')}
        />
      </div>
      {form.watch('tells') && <ReceiverChoice form={form} />}
    </>
  )
}

function GoalField({ form }: RuleFormProps) {
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } })).data?.data ?? []
  return (
    <SelectField label="Its visitors go to" {...form.register('leads_to')} value={form.watch('leads_to')}>
      <option value="">The fallback</option>
      {offers.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

export function BackFields({ form }: RuleFormProps) {
  const [does, back] = [form.watch('does'), form.watch('back')]
  const { errors } = form.formState
  return (
    <>
      {(does === 'leave_out' || does === 'pause') && (
        <div className="grid gap-3 sm:grid-cols-3">
          <SelectField label="Coming back" {...form.register('back')}>
            <option value="never">Only by hand</option>
            <option value="when">When it has become better</option>
            <option value="days">After some days</option>
          </SelectField>
          {back === 'days' && (
            <>
              <TextField label="Days" inputMode="numeric" {...form.register('back_days')} />
              {does === 'leave_out' && (
                <TextField
                  label="Visitors let in, %"
                  inputMode="decimal"
                  hint="After as many days again: all."
                  {...form.register('back_share')}
                />
              )}
            </>
          )}
        </div>
      )}
      {(does === 'leave_out' || does === 'pause') && back === 'when' && (
        <RuleConditions form={form} name="back_when" legend="Let it come back when all of this holds" />
      )}
      {does !== 'nothing' && (
        <fieldset className="grid gap-3 sm:grid-cols-3">
          <legend className="sr-only">Stop line</legend>
          <TextField
            label="Ask first above, % of clicks"
            inputMode="decimal"
            hint="Of the campaign’s clicks of yesterday."
            error={errors.stop_percent && 'Enter 1 to 100.'}
            {...form.register('stop_percent')}
          />
          <TextField
            label="Ask first above, objects"
            inputMode="numeric"
            error={errors.stop_objects && 'Enter 1 to 200.'}
            {...form.register('stop_objects')}
          />
        </fieldset>
      )}
    </>
  )
}

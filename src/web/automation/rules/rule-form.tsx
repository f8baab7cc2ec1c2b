/** The form of a rule, which reads as a sentence: when, in which window, then what. */
import { createRule, listRules, readRule, RuleDraft, updateRule } from '../../../automation/rules/api.ts'
import { call } from '../../ground/call.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useRequestDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { BackFields, ThenFields } from './act-fields.tsx'
import { RuleConditions } from './condition-fields.tsx'
import {
  BLANK_RULE,
  requestOfRule,
  type RuleForm,
  ruleFormOf,
  type RuleFormProps,
  type RuleRequest,
} from './form-values.ts'
import { OverFields } from './over-fields.tsx'
import { TryRule } from './tried.tsx'
import type { RuleView } from './words.ts'

type OpenProps = { open: boolean; onClose: () => void }

export function NewRule({ open, onClose, onCreated }: OpenProps & { onCreated: (id: string) => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New rule" width="wide">
      <Form
        values={BLANK_RULE}
        action="Add rule"
        endpoint={createRule}
        deed={body => call(createRule, { body })}
        onClose={onClose}
        onSaved={({ id, name }) => {
          notify(`${name} is added`, 'It is checked from now on.')
          onCreated(id)
        }}
      />
    </Dialog>
  )
}

export function EditRule({ rule, open, onClose }: OpenProps & { rule: RuleView }) {
  return (
    <Dialog open={open} onClose={onClose} title="Edit rule" width="wide">
      <Form
        values={ruleFormOf(rule)}
        action="Save rule"
        endpoint={updateRule}
        deed={body => call(updateRule, { params: { id: rule.id }, body })}
        onClose={onClose}
        onSaved={({ name }) => notify(`${name} is saved`, 'Its log stays.')}
      />
    </Dialog>
  )
}

type FormProps = {
  values: RuleForm
  action: string
  endpoint: typeof createRule | typeof updateRule
  deed: (body: RuleRequest) => Promise<RuleView>
  onClose: () => void
  onSaved: (rule: RuleView) => void
}

/** The field that shows an error at a path of the request. */
function fieldOf([first, second]: readonly PropertyKey[]): string {
  if (first === 'window') return second === 'leave_out_newest_hours' ? 'newest' : 'hours'
  if (first === 'at_least') return second === 'cost' ? 'cost' : 'clicks'
  if (first === 'stop_line') return second === 'objects' ? 'stop_objects' : 'stop_percent'
  return first === 'then' ? 'does' : String(first)
}

function Form({ values, ...saving }: FormProps) {
  const form = useRequestDraft({ schema: RuleDraft, values, requestOf: requestOfRule, fieldOf })
  return (
    <DraftForm form={form} refresh={[listRules, readRule]} {...saving}>
      <TextField
        label="Name"
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
      <OverFields form={form} />
      <RuleConditions form={form} name="when" legend="When all of this holds" />
      <WindowFields form={form} />
      <ThenFields form={form} />
      <BackFields form={form} />
      <TryRule requestOf={() => requestOfRule(form.getValues())} />
    </DraftForm>
  )
}

/** Over which time, with how many clicks, and how often. */
function WindowFields({ form }: RuleFormProps) {
  const { errors } = form.formState
  return (
    <fieldset className="grid grid-cols-2 gap-3 sm:grid-cols-4">
      <TextField
        label="In the last hours"
        inputMode="numeric"
        hint="1 to 720"
        error={errors.hours && 'Enter 1 to 720.'}
        {...form.register('hours')}
      />
      <TextField
        label="Without the newest"
        inputMode="numeric"
        hint="hours, for late conversions"
        error={errors.newest && 'Enter 0 to 72.'}
        {...form.register('newest')}
      />
      <TextField
        label="At least clicks"
        inputMode="numeric"
        error={errors.clicks && 'Enter clicks, a cost, or both.'}
        {...form.register('clicks')}
      />
      <TextField
        label="At least cost, $"
        inputMode="decimal"
        error={errors.cost && 'Enter an amount.'}
        {...form.register('cost')}
      />
      <SelectField label="Check" {...form.register('every')}>
        <option value="5">Every 5 minutes</option>
        <option value="15">Every 15 minutes</option>
        <option value="60">Every hour</option>
        <option value="day">Once a day</option>
      </SelectField>
      {form.watch('every') === 'day' && (
        <TextField type="time" label="At" error={errors.at?.message} {...form.register('at')} />
      )}
    </fieldset>
  )
}

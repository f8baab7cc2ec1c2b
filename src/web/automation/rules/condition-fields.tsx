/** Up to six conditions, each a figure, above or below, and a value. */
import { Plus, X } from 'lucide-react'
import { figureOf } from '../../../contract/figures.ts'
import { RULE_FIGURES } from '../../../contract/rules.ts'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import type { ConditionForm, RuleFormProps } from './form-values.ts'

const MOST = 6
const FIGURES: readonly ConditionForm['figure'][] = ['payouts', ...RULE_FIGURES]

const nameOf = (figure: ConditionForm['figure']) => (figure === 'payouts' ? 'Cost, in payouts' : figureOf(figure).name)

function unitOf(figure: ConditionForm['figure']): string {
  if (figure === 'payouts') return 'payouts'
  const { unit } = figureOf(figure)
  return unit === 'share' ? '%' : unit === 'count' ? '' : '$'
}

type ConditionsProps = RuleFormProps & { name: 'when' | 'back_when'; legend: string }

export function RuleConditions({ form, name, legend }: ConditionsProps) {
  const conditions = form.watch(name)
  const set = (next: ConditionForm[]) => form.setValue(name, next, { shouldDirty: true })
  const change = (at: number, changes: Partial<ConditionForm>) =>
    set(conditions.map((one, place) => (place === at ? { ...one, ...changes } : one)))
  const error = form.formState.errors[name === 'when' ? 'when' : 'back']?.message
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 font-medium">{legend}</legend>
      {conditions.map((condition, at) => (
        <div key={at} className="grid grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)_auto] items-center gap-2">
          <SelectField
            label={`Figure ${at + 1}`}
            hideLabel
            value={condition.figure}
            onChange={event => change(at, { figure: FIGURES.find(figure => figure === event.target.value) ?? 'roi' })}
          >
            {FIGURES.map(figure => (
              <option key={figure} value={figure}>
                {nameOf(figure)}
              </option>
            ))}
          </SelectField>
          <SelectField
            label={`Comparison ${at + 1}`}
            hideLabel
            value={condition.is}
            onChange={event => change(at, { is: event.target.value === 'above' ? 'above' : 'below' })}
          >
            <option value="above">above</option>
            <option value="below">below</option>
          </SelectField>
          <div className="flex items-center gap-1.5">
            <TextField
              label={`Value ${at + 1}`}
              hideLabel
              inputMode="decimal"
              autoComplete="off"
              value={condition.value}
              onChange={event => change(at, { value: event.target.value.trim() })}
            />
            <span className="text-ink-soft">{unitOf(condition.figure)}</span>
          </div>
          {conditions.length > 1 && (
            <IconButton
              icon={X}
              label={`Remove condition ${at + 1}`}
              onClick={() => set(conditions.filter((_, place) => place !== at))}
            />
          )}
        </div>
      ))}
      {error !== undefined && <p className="text-sm text-bad">{sentence(error)}</p>}
      {conditions.length < MOST && (
        <span>
          <Button
            size="sm"
            look="quiet"
            icon={Plus}
            onClick={() => set([...conditions, { figure: 'conversions', is: 'below', value: '1' }])}
          >
            And …
          </Button>
        </span>
      )}
    </fieldset>
  )
}

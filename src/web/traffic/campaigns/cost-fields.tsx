/** The cost model of a campaign: from a URL parameter of each click, or a fixed price. */
import type { UseFormReturn } from 'react-hook-form'
import { useSource } from '../../ground/source-choice.tsx'
import { noneIfBlank } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import type { CampaignValues } from './draft.ts'

const MODELS = {
  none: {
    label: 'None: cost comes from ad spend',
    hint: 'Cost is the amounts entered under Ad spend.',
  },
  link: {
    label: 'Cost from URL parameter',
    hint: 'Most sources send their bid, so it is an estimate. Entered ad spend replaces it.',
  },
  cpc: { label: 'Fixed price per click (CPC)', hint: 'Entered ad spend replaces it.' },
  cpm: { label: 'Fixed price per thousand clicks (CPM)', hint: 'Entered ad spend replaces it.' },
} as const

type Model = keyof typeof MODELS

/** Choosing a model clears the fields of the previous one, because the server refuses fields of another model. */
export function CostFields({ form }: { form: UseFormReturn<CampaignValues, unknown, CampaignValues> }) {
  const errors = form.formState.errors.cost
  const model: Model = form.watch('cost.model') ?? 'none'
  const costParameter = useCostParameterWords(form.watch('traffic_source_id'))
  const choose = (chosen: Model) => {
    form.clearErrors('cost')
    form.setValue('cost', { model: chosen, amount: null, max: null }, { shouldDirty: true })
  }
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label="Cost of a click"
        hint={model === 'link' ? `${costParameter} ${MODELS.link.hint}` : MODELS[model].hint}
        error={errors?.model?.message}
        value={model}
        onChange={event => choose(event.target.value as Model)}
      >
        {Object.entries(MODELS).map(([id, { label }]) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </SelectField>
      {model === 'link' && (
        <TextField
          label="Ignore costs above, $"
          optional
          placeholder="10"
          hint="Anyone can edit the URL. A click with a higher cost counts as having none."
          inputMode="decimal"
          autoComplete="off"
          className="max-w-xs"
          error={errors?.max?.message}
          {...form.register('cost.max', noneIfBlank)}
        />
      )}
      {(model === 'cpc' || model === 'cpm') && (
        <TextField
          label={model === 'cpc' ? 'Price per click, $' : 'Price per thousand clicks, $'}
          inputMode="decimal"
          autoComplete="off"
          className="max-w-xs"
          error={errors?.amount?.message}
          {...form.register('cost.amount', noneIfBlank)}
        />
      )}
    </div>
  )
}

/** Which parameter holds the cost, and in what unit. */
function useCostParameterWords(source_id: string | null | undefined): string {
  const source = useSource(source_id ?? undefined)
  if (source === undefined) return 'Read from the parameter cost, in US dollars.'
  const { name, parameters, cost_unit, cost_currency } = source
  const parameter = parameters.find(({ field }) => field === 'cost')?.parameter
  if (parameter === undefined) return `${name} has no cost parameter, so only a parameter named cost is read.`
  const unit = cost_unit === 'cpm' ? ' per thousand clicks' : ''
  const converted = cost_currency === 'USD' ? '' : ', converted into US dollars at the rate of the day'
  return `Read from the parameter ${parameter} as a price${unit} in ${cost_currency}, as ${name} sends it${converted}.`
}

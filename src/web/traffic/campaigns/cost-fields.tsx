/** What a campaign's clicks cost: by each link, or at a fixed price. */
import type { UseFormReturn } from 'react-hook-form'
import { useSource } from '../../ground/source-choice.tsx'
import { noneIfBlank } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import type { Draft } from './draft.ts'

const MODELS = {
  none: {
    label: 'Not known: entered as ad spend',
    hint: 'Without a cost model, cost is what is entered under Ad spend.',
  },
  link: {
    label: 'By link: the source says it at each click',
    hint: 'Most sources send their bid, so it is an estimate; entered ad spend takes its place.',
  },
  cpc: { label: 'Fixed price per click (CPC)', hint: 'Entered ad spend takes its place.' },
  cpm: { label: 'Fixed price per thousand clicks (CPM)', hint: 'Entered ad spend takes its place.' },
} as const

type Model = keyof typeof MODELS

/** A model drops the fields of the one before, so that nothing is sent that cannot go with it. */
export function CostFields({ form }: { form: UseFormReturn<Draft, unknown, Draft> }) {
  const errors = form.formState.errors.cost
  const model: Model = form.watch('cost.model') ?? 'none'
  const howItSays = useHowItSays(form.watch('traffic_source_id'))
  const choose = (chosen: Model) => {
    form.clearErrors('cost')
    form.setValue('cost', { model: chosen, amount: null, max: null }, { shouldDirty: true })
  }
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label="Cost of a click"
        hint={model === 'link' ? `${howItSays} ${MODELS.link.hint}` : MODELS[model].hint}
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
          label="At most for one click, $"
          optional
          placeholder="10"
          hint="Anybody can write a price into the address. More than this counts as no readable cost."
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

/** Where a link says what its click costs, in words. */
function useHowItSays(source_id: string | null | undefined): string {
  const source = useSource(source_id ?? undefined)
  if (source === undefined) return 'Read from the parameter cost, in US dollars.'
  const { name, parameters, cost_unit, cost_currency } = source
  const parameter = parameters.find(({ field }) => field === 'cost')?.parameter
  if (parameter === undefined)
    return `${name} passes no cost: its parameters have none. Only cost in the address is read.`
  const of = cost_unit === 'cpm' ? ' of a thousand clicks' : ''
  const converted = cost_currency === 'USD' ? '' : ', counted in US dollars by the rate of the day'
  return `Read from the parameter ${parameter} as a price${of} in ${cost_currency}, as ${name} sends it${converted}.`
}

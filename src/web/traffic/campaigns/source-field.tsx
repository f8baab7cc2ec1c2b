/** The traffic source of a campaign. */
import type { UseFormReturn } from 'react-hook-form'
import { useSources } from '../../ground/source-choice.tsx'
import { noneIfBlank } from '../../ground/ui/draft.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import type { CampaignValues } from './draft.ts'

export function SourceField({
  form,
  isNew,
}: {
  form: UseFormReturn<CampaignValues, unknown, CampaignValues>
  isNew: boolean
}) {
  const chosen = form.watch('traffic_source_id')
  const template = form.watch('source.template')
  const known = useSources()
  const choose = (id: string) => {
    form.setValue('traffic_source_id', id === '' ? null : id, { shouldDirty: true, shouldValidate: true })
    const passesCost = known.find(one => one.id === id)?.parameters.some(({ field }) => field === 'cost') === true
    // A source that sends costs suggests the cost model `link`; a model that was chosen already stays.
    if (isNew && passesCost && (form.getValues('cost')?.model ?? 'none') === 'none')
      form.setValue('cost', { model: 'link', amount: null, max: null }, { shouldDirty: true })
  }
  return (
    <SelectField
      label="Traffic source"
      optional
      hint="Fills in the campaign link and reads its parameters. Add sources under Sources."
      error={form.formState.errors.traffic_source_id?.message}
      {...form.register('traffic_source_id', noneIfBlank)}
      onChange={event => choose(event.target.value)}
      value={chosen ?? ''}
    >
      <option value="">{template == null ? 'None (plain link)' : `None (macros of ${template})`}</option>
      {chosen != null && known.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {known.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

/** Which traffic source a campaign gets its visitors from. */
import type { UseFormReturn } from 'react-hook-form'
import { useSources } from '../../ground/source-choice.tsx'
import { noneIfBlank } from '../../ground/ui/draft.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import type { Draft } from './draft.ts'

export function SourceField({ form, isNew }: { form: UseFormReturn<Draft, unknown, Draft>; isNew: boolean }) {
  const chosen = form.watch('traffic_source_id')
  const template = form.watch('source.template')
  const known = useSources()
  const choose = (id: string) => {
    form.setValue('traffic_source_id', id === '' ? null : id, { shouldDirty: true, shouldValidate: true })
    const passesCost = known.find(one => one.id === id)?.parameters.some(({ field }) => field === 'cost') === true
    // Who buys from a source that says what each click costs wants it read; what was chosen of cost stays.
    if (isNew && passesCost && (form.getValues('cost')?.model ?? 'none') === 'none')
      form.setValue('cost', { model: 'link', amount: null, max: null }, { shouldDirty: true })
  }
  return (
    <SelectField
      label="Traffic source"
      optional
      hint="Its macros stand in the address for the ads, and its names are read. Sources are added on a page of their own."
      error={form.formState.errors.traffic_source_id?.message}
      {...form.register('traffic_source_id', noneIfBlank)}
      onChange={event => choose(event.target.value)}
      value={chosen ?? ''}
    >
      <option value="">{template == null ? 'None: the bare address' : `None: the macros of ${template}`}</option>
      {chosen != null && known.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {known.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

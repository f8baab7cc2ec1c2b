/** Which traffic source a campaign gets its visitors from. */
import type { UseFormReturn } from 'react-hook-form'
import { useSources } from '../../ground/source-choice.tsx'
import { noneIfBlank } from '../../ground/ui/draft.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import type { Draft } from './draft.ts'

export function SourceField({ form }: { form: UseFormReturn<Draft, unknown, Draft> }) {
  const chosen = form.watch('traffic_source_id')
  const template = form.watch('source.template')
  const known = useSources()
  return (
    <SelectField
      label="Traffic source"
      optional
      hint="Its macros stand in the address for the ads, and its names are read. Sources are added on a page of their own."
      error={form.formState.errors.traffic_source_id?.message}
      {...form.register('traffic_source_id', noneIfBlank)}
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

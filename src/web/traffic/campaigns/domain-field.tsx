/** The domain of a campaign's link. Hidden if the workspace has no domains. */
import { useQuery } from '@tanstack/react-query'
import type { UseFormReturn } from 'react-hook-form'
import { listDomains } from '../../../traffic/domains/api.ts'
import { ask } from '../../ground/call.ts'
import { noneIfBlank } from '../../ground/ui/draft.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import type { CampaignValues } from './draft.ts'

export function DomainField({ form }: { form: UseFormReturn<CampaignValues, unknown, CampaignValues> }) {
  const chosen = form.watch('domain_id')
  const domains = useQuery(ask(listDomains, { query: { limit: 200 } })).data?.data ?? []
  const served = domains.filter(({ status }) => status === 'active' || status === 'failing')
  if (served.length === 0 && chosen == null) return null
  const usual = served.find(({ is_default }) => is_default)
  return (
    <SelectField
      label="Domain"
      optional
      hint="The domain of the campaign link. The link works on every domain of the workspace, so running ads keep working."
      error={form.formState.errors.domain_id?.message}
      {...form.register('domain_id', noneIfBlank)}
      value={chosen ?? ''}
    >
      <option value="">{usual === undefined ? 'Main address' : `Default: ${usual.unicode_name}`}</option>
      {chosen != null && served.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {served.map(({ id, unicode_name, status }) => (
        <option key={id} value={id}>
          {status === 'failing' ? `${unicode_name} (does not lead here)` : unicode_name}
        </option>
      ))}
    </SelectField>
  )
}

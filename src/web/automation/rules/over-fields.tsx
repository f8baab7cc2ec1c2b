/** Which campaigns a rule is over, and what it judges in them. */
import { RULE_FIELDS } from '../../../contract/rules.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { useTags } from '../../ground/many/tag-dots.tsx'
import { useSources } from '../../ground/source-choice.tsx'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import type { RuleFormProps } from './form-values.ts'
import { ruleFieldInWords } from './words.ts'

export function OverFields({ form }: RuleFormProps) {
  const [over, error] = [form.watch('over'), form.formState.errors.over?.message]
  const [tags, sources] = [useTags(), useSources()]
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <SelectField label="Judge" {...form.register('value_of')}>
          <option value="">Campaigns as a whole</option>
          {RULE_FIELDS.map(field => (
            <option key={field} value={field}>
              {`Each ${ruleFieldInWords(field)}`}
            </option>
          ))}
        </SelectField>
        <SelectField label="Of" error={error} {...form.register('over')}>
          <option value="campaigns">Chosen campaigns</option>
          <option value="tag">Campaigns with a tag</option>
          <option value="source">Campaigns of a source</option>
        </SelectField>
        {over === 'tag' && (
          <SelectField
            label="Tag"
            hint="Later campaigns, too."
            {...form.register('tag_id')}
            value={form.watch('tag_id')}
          >
            <option value="">Choose a tag</option>
            {tags.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        )}
        {over === 'source' && (
          <SelectField
            label="Source"
            hint="Later campaigns, too."
            {...form.register('source_id')}
            value={form.watch('source_id')}
          >
            <option value="">Choose a source</option>
            {sources.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
        )}
      </div>
      {over === 'campaigns' && <Campaigns form={form} />}
    </>
  )
}

function Campaigns({ form }: RuleFormProps) {
  const campaigns = useCampaigns().filter(({ status }) => status !== 'archived')
  const chosen = form.watch('campaign_ids')
  const choose = (id: string, isChosen: boolean) =>
    form.setValue('campaign_ids', isChosen ? [...chosen, id] : chosen.filter(one => one !== id), { shouldDirty: true })
  return (
    <fieldset aria-label="Campaigns">
      <div className="grid max-h-36 gap-2 overflow-y-auto rounded-md border border-line p-2.5 sm:grid-cols-2">
        {campaigns.map(({ id, name }) => (
          <Checkbox
            key={id}
            label={name}
            checked={chosen.includes(id)}
            onChange={event => choose(id, event.target.checked)}
          />
        ))}
        {campaigns.length === 0 && <p className="text-ink-faint">There are no campaigns yet.</p>}
      </div>
      {form.formState.errors.over !== undefined && chosen.length === 0 && (
        <p className="mt-1 text-sm text-bad">{sentence('choose at least one campaign')}</p>
      )}
    </fieldset>
  )
}

/** A postback rule, new or changed: presets, macros to insert, and the address as it will be called. */
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import {
  CALLED_ON,
  createPostbackRule,
  listPostbackRules,
  type PostbackRule,
  PostbackRuleDraft,
  PRESETS,
  readPostbackRule,
  updatePostbackRule,
} from '../../../outgoing/postbacks/api.ts'
import type { TrafficSource } from '../../../traffic/sources/api.ts'
import { call } from '../../ground/call.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { inWords } from '../../ground/rungs.ts'
import { useSource } from '../../ground/source-choice.tsx'
import { NewDialog } from '../../ground/ui/clone.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { AddressField } from './address-field.tsx'
import { WHEN, WHEN_HINTS } from './called-on.ts'

type Rule = z.input<typeof PostbackRule>
type Draft = z.input<typeof PostbackRuleDraft>
type SourceRow = z.input<typeof TrafficSource>

type PostbackDialogProps = {
  rule: Rule | undefined
  /** The id of the rule that a new one is a copy of. */
  clone?: string | undefined
  /** The traffic source that a new one is for. */
  source?: SourceRow | undefined
  open: boolean
  onClose: () => void
}

export function PostbackDialog({ rule, clone, source, open, onClose }: PostbackDialogProps) {
  if (rule === undefined)
    return (
      <NewDialog
        what="postback rule"
        width="wide"
        clone={clone}
        read={id => call(readPostbackRule, { params: { id } })}
        nameOf={({ event_type }) => `the rule for ${inWords(event_type)}`}
        open={open}
        onClose={onClose}
      >
        {original => <PostbackForm rule={undefined} original={original} source={source} onClose={onClose} />}
      </NewDialog>
    )
  return (
    <Dialog open={open} onClose={onClose} title="Edit postback rule" width="wide">
      <PostbackForm rule={rule} onClose={onClose} />
    </Dialog>
  )
}

const NEW: Draft = {
  event_type: 'lead',
  url: '',
  method: 'GET',
  campaign_id: null,
  on: 'recorded',
  preset: 'custom',
  active: true,
  once_per_person: false,
}

/** What a rule for a source starts from: the address its template knows, off while something of it is still to be filled in. */
const ofSource = ({ id, postback }: SourceRow): Draft => ({
  ...NEW,
  url: postback ?? '',
  traffic_source_id: id,
  active: postback?.includes('YOUR_') !== true,
})

function copyOf(rule: Rule): Draft {
  const { event_type, on, url, method, campaign_id, traffic_source_id, preset, active, once_per_person } = rule
  const { data } = PostbackRuleDraft.shape.preset.safeParse(preset)
  const kept = { event_type, on, url, method, campaign_id, traffic_source_id, active, once_per_person }
  return { ...kept, preset: data ?? 'custom' }
}

const changesOf = ({ event_type, on, url, campaign_id, traffic_source_id, once_per_person }: Rule): Draft => ({
  event_type,
  on,
  url,
  campaign_id,
  traffic_source_id,
  once_per_person,
})

type FormProps = {
  rule: Rule | undefined
  original?: Rule | undefined
  source?: SourceRow | undefined
  onClose: () => void
}

function PostbackForm({ rule, original, source, onClose }: FormProps) {
  const campaigns = useCampaigns()
  const form = useDraft<Draft>(
    PostbackRuleDraft,
    rule !== undefined
      ? changesOf(rule)
      : original !== undefined
        ? copyOf(original)
        : source !== undefined
          ? ofSource(source)
          : NEW,
  )
  const campaign = form.watch('campaign_id') ?? ''
  const of = useSource(form.watch('traffic_source_id') ?? undefined)
  const on = form.watch('on') ?? 'recorded'
  const errors = form.formState.errors
  const url = form.watch('url')
  return (
    <DraftForm
      form={form}
      action={rule === undefined ? 'Add rule' : 'Save rule'}
      endpoint={rule === undefined ? createPostbackRule : updatePostbackRule}
      deed={body =>
        rule === undefined
          ? call(createPostbackRule, { body })
          : call(updatePostbackRule, { params: { id: rule.id }, body })
      }
      refresh={[listPostbackRules]}
      onClose={onClose}
      onSaved={({ active }) =>
        notify(
          rule === undefined ? 'The rule is added' : 'The rule is saved',
          active ? 'It holds for conversions from now on.' : 'It is off.',
        )
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField label="Conversion" error={errors.event_type?.message} {...form.register('event_type')}>
          {EVENT_TYPES.map(type => (
            <option key={type} value={type}>
              {inWords(type)}
            </option>
          ))}
        </SelectField>
        <SelectField label="When" hint={WHEN_HINTS[on]} error={errors.on?.message} {...form.register('on')}>
          {CALLED_ON.map(one => (
            <option key={one} value={one}>
              {WHEN[one]}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Of"
          error={errors.campaign_id?.message}
          {...form.register('campaign_id', noneIfBlank)}
          // The campaigns may come later than the form, and the oldest not at all.
          value={campaign}
        >
          <option value="">
            {of === undefined ? 'Every campaign, those made later included' : `Clicks from ${of.name}`}
          </option>
          {campaign !== '' && campaigns.every(({ id }) => id !== campaign) && (
            <option value={campaign}>{campaign}</option>
          )}
          {of === undefined &&
            campaigns.map(campaign => (
              <option key={campaign.id} value={campaign.id}>
                {campaign.name}
              </option>
            ))}
        </SelectField>
        {rule === undefined && (
          <>
            <SelectField
              label="Start from"
              {...form.register('preset', {
                onChange: event => form.setValue('url', PRESETS[event.target.value as keyof typeof PRESETS].url),
              })}
            >
              {Object.entries(PRESETS).map(([id, { name }]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
            <SelectField
              label="Method"
              hint="It never changes afterwards."
              error={errors.method?.message}
              {...form.register('method')}
            >
              <option value="GET">GET</option>
              <option value="POST">POST</option>
            </SelectField>
          </>
        )}
      </div>
      <AddressField
        error={errors.url?.message}
        url={url}
        onChange={next => form.setValue('url', next, { shouldValidate: form.formState.isSubmitted, shouldDirty: true })}
      />
      <Checkbox
        label="Once per person"
        words="Only the first matching conversion of each person calls, counted from when this is on."
        {...form.register('once_per_person')}
      />
      {rule === undefined && (
        <Checkbox
          label="Active"
          words="Calls for conversions from now on. Off, it is kept for later."
          {...form.register('active')}
        />
      )}
    </DraftForm>
  )
}

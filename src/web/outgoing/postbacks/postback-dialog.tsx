/** The form of a postback rule, new or changed: presets, macros to insert, and an example call. */
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
import { chosenIn, noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { AddressField } from './address-field.tsx'
import { CALLED_ON_WORDS, CALLED_ON_HINTS } from './called-on.ts'

type RuleRow = z.input<typeof PostbackRule>
type RuleDraft = z.input<typeof PostbackRuleDraft>
type SourceRow = z.input<typeof TrafficSource>

type PostbackDialogProps = {
  rule: RuleRow | undefined
  /** The id of the rule that the new one copies. */
  clone?: string | undefined
  /** The traffic source of the new rule. */
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

const BLANK_RULE: RuleDraft = {
  event_type: 'lead',
  url: '',
  method: 'GET',
  campaign_id: null,
  on: 'recorded',
  preset: 'custom',
  active: true,
  once_per_person: false,
}

/** The draft of a rule for a source: its template's address, switched off while the operator must still fill in a part of it. */
const draftForSource = ({ id, postback }: SourceRow): RuleDraft => ({
  ...BLANK_RULE,
  url: postback ?? '',
  traffic_source_id: id,
  active: postback?.includes('YOUR_') !== true,
})

function copyOf(rule: RuleRow): RuleDraft {
  const { event_type, on, url, method, campaign_id, traffic_source_id, preset, active, once_per_person } = rule
  const { data } = PostbackRuleDraft.shape.preset.safeParse(preset)
  const kept = { event_type, on, url, method, campaign_id, traffic_source_id, active, once_per_person }
  return { ...kept, preset: data ?? 'custom' }
}

const changesOf = ({ event_type, on, url, campaign_id, traffic_source_id, once_per_person }: RuleRow): RuleDraft => ({
  event_type,
  on,
  url,
  campaign_id,
  traffic_source_id,
  once_per_person,
})

type FormProps = {
  rule: RuleRow | undefined
  original?: RuleRow | undefined
  source?: SourceRow | undefined
  onClose: () => void
}

function PostbackForm({ rule, original, source, onClose }: FormProps) {
  const campaigns = useCampaigns()
  const form = useDraft<RuleDraft>(
    PostbackRuleDraft,
    rule !== undefined
      ? changesOf(rule)
      : original !== undefined
        ? copyOf(original)
        : source !== undefined
          ? draftForSource(source)
          : BLANK_RULE,
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
          active ? 'Applies to conversions from now on.' : 'It is off.',
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
        <SelectField label="When" hint={CALLED_ON_HINTS[on]} error={errors.on?.message} {...form.register('on')}>
          {CALLED_ON.map(one => (
            <option key={one} value={one}>
              {CALLED_ON_WORDS[one]}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Campaign"
          error={errors.campaign_id?.message}
          {...form.register('campaign_id', noneIfBlank)}
          // The campaign list loads after the form and may lack the oldest campaigns.
          value={campaign}
        >
          <option value="">
            {of === undefined ? 'All campaigns, future ones included' : `Clicks from ${of.name}`}
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
              hint="Cannot be changed later."
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
        onChange={next => form.setValue('url', next, chosenIn(form))}
      />
      <Checkbox
        label="First conversion per person only"
        words="Sends a postback only for each person’s first matching conversion after this is switched on."
        {...form.register('once_per_person')}
      />
      {rule === undefined && (
        <Checkbox
          label="Active"
          words="Sends postbacks for conversions from now on. Off: the rule is saved, but sends nothing."
          {...form.register('active')}
        />
      )}
    </DraftForm>
  )
}

/** A postback rule, new or changed: presets, macros to insert, and the address as it will be called. */
import { useRef } from 'react'
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import {
  CALLED_ON,
  createPostbackRule,
  listPostbackRules,
  MACRO,
  POSTBACK_MACROS,
  type PostbackMacro,
  type PostbackRule,
  PostbackRuleDraft,
  PRESETS,
  readPostbackRule,
  unknownMacros,
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
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { WHEN, WHEN_HINTS } from './called-on.ts'
import { exampleOf } from './example.ts'

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
      <Address
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

function Address({
  url,
  error,
  onChange,
}: {
  url: string
  error: string | undefined
  onChange: (url: string) => void
}) {
  const input = useRef<HTMLInputElement>(null)
  const insert = (macro: PostbackMacro) => {
    const field = input.current
    const [from, to] = [field?.selectionStart ?? url.length, field?.selectionEnd ?? url.length]
    const text = `{${macro}}`
    onChange(url.slice(0, from) + text + url.slice(to))
    field?.focus()
    requestAnimationFrame(() => field?.setSelectionRange(from + text.length, from + text.length))
  }
  return (
    <div className="flex flex-col gap-2.5">
      <TextField
        ref={input}
        label="Address"
        placeholder="https://tracker.example/postback?subid={ref_id}"
        value={url}
        error={error}
        onChange={event => onChange(event.target.value)}
        className="[&_input]:font-mono"
        spellCheck={false}
        autoComplete="off"
      />
      <fieldset aria-label="Macros to insert" className="flex flex-wrap gap-1">
        {POSTBACK_MACROS.map(macro => (
          <button
            key={macro}
            type="button"
            onClick={() => insert(macro)}
            className="rounded-sm border border-line bg-sunken px-1.5 py-0.5 font-mono text-sm text-ink-soft hover:border-line-strong hover:text-ink pointer-coarse:py-1.5"
          >{`{${macro}}`}</button>
        ))}
      </fieldset>
      {url !== '' && (
        <p className="text-sm break-all text-ink-faint">
          Called as <span className="font-mono text-ink-soft">{exampleOf(url)}</span>
        </p>
      )}
      {url.includes('YOUR_') && (
        <p className="text-sm text-warn">
          What begins with YOUR_ is of your account at the source. A rule of a source is off until it stands there.
        </p>
      )}
      <LeftOut unknown={unknownMacros(url)} onReplace={() => onChange(withRevenue(url))} />
    </div>
  )
}

/** Payout travels with the conversion and is no macro; what stands for the amount is offered in its place. */
const withRevenue = (url: string) =>
  url.replace(MACRO, (text, name: string | undefined) => (name?.toLowerCase() === 'payout' ? '{revenue}' : text))

function LeftOut({ unknown, onReplace }: { unknown: readonly string[]; onReplace: () => void }) {
  const others = unknown.filter(name => name !== 'payout').map(name => `{${name}}`)
  return (
    <div className="flex flex-col gap-1 text-sm text-warn" aria-live="polite">
      {unknown.includes('payout') && (
        <p>
          {'{payout}'} is no macro and is left out. The amount of the conversion is {'{revenue}'}.{' '}
          <button type="button" onClick={onReplace} className="font-medium underline hover:no-underline">
            Use {'{revenue}'}
          </button>
        </p>
      )}
      {others.length > 0 && (
        <p className="break-all">
          {others.join(', ')} {others.length === 1 ? 'is no macro' : 'are no macros'} of Sluice and{' '}
          {others.length === 1 ? 'is' : 'are'} left out.
        </p>
      )}
    </div>
  )
}

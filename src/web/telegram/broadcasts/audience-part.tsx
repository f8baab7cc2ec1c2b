/** The audience of a broadcast: conditions that must all match. */
import { X } from 'lucide-react'
import { COUNTRIES } from '../../../contract/countries.ts'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { localIn, momentIn } from '../../../contract/zones.ts'
import { useCampaignNames, useCampaigns } from '../../ground/campaign-choice.tsx'
import { country } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { zoneNow, zoneWords } from '../../ground/zone.ts'
import type { ChannelName } from '../messages/editor.tsx'
import { type Audience, withCondition } from './draft.ts'

type AudienceProps = {
  audience: Audience
  channels: readonly ChannelName[]
  /** Earlier broadcasts of the bot whose recipients can be excluded. */
  broadcasts: readonly { readonly id: string; readonly name: string }[]
  onChange: (audience: Audience) => void
}

export function AudiencePart({ audience, channels, broadcasts, onChange }: AudienceProps) {
  const campaigns = useCampaigns()
  const nameOf = useCampaignNames(audience.campaigns ?? [])
  const set = <Name extends keyof Audience>(name: Name, value: Audience[Name] | undefined) =>
    onChange(withCondition(audience, name, value))
  const titles = new Map(channels.map(({ id, title }) => [id, title]))
  const channelsWith = (side: 'in' | 'not_in', ids: string[]) => {
    const { [side]: _, ...rest } = audience.channels ?? {}
    const next = ids.length === 0 ? rest : { ...rest, [side]: ids }
    set('channels', Object.keys(next).length === 0 ? undefined : next)
  }
  const inChannels = (side: 'in' | 'not_in', label: string) => (
    <MultiSelect
      label={label}
      options={channels.map(({ id }) => id)}
      words={id => titles.get(id) ?? id}
      chosen={audience.channels?.[side] ?? []}
      onChange={ids => channelsWith(side, ids)}
    />
  )
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <MultiSelect
        label="Campaigns"
        options={campaigns.map(({ id }) => id)}
        words={id => nameOf(id) ?? id}
        chosen={audience.campaigns ?? []}
        onChange={ids => set('campaigns', ids)}
      />
      <MultiSelect
        label="Countries"
        options={[...COUNTRIES.keys()]}
        words={country}
        chosen={audience.geo ?? []}
        onChange={codes => set('geo', codes)}
      />
      <MultiSelect
        label="Has one of these conversions"
        options={EVENT_TYPES}
        words={inWords}
        chosen={audience.has_event ?? []}
        onChange={types => set('has_event', types as Audience['has_event'])}
      />
      <MultiSelect
        label="Has none of these conversions"
        options={EVENT_TYPES}
        words={inWords}
        chosen={audience.has_no_event ?? []}
        onChange={types => set('has_no_event', types as Audience['has_no_event'])}
      />
      {channels.length > 0 && inChannels('in', 'Is in one of these channels')}
      {channels.length > 0 && inChannels('not_in', 'Is in none of these channels')}
      <StartedTimes audience={audience} onChange={set} />
      <CommaList
        label="sub1"
        placeholder="banner-7, banner-9"
        values={audience.sub1}
        onChange={values => set('sub1', values)}
      />
      <CommaList
        label="Languages"
        placeholder="en, uk"
        values={audience.language}
        onChange={values => set('language', values)}
      />
      {broadcasts.length > 0 && (
        <SelectField
          label="Exclude recipients of"
          value={audience.not_broadcast_id ?? ''}
          onChange={event => set('not_broadcast_id', event.target.value === '' ? undefined : event.target.value)}
        >
          <option value="">No broadcast</option>
          {broadcasts.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
    </div>
  )
}

type TimesProps = {
  audience: Audience
  onChange: (name: 'started_from' | 'started_to', value: string | undefined) => void
}

function StartedTimes({ audience, onChange }: TimesProps) {
  const field = (name: 'started_from' | 'started_to', label: string) => {
    const value = audience[name]
    return (
      <TextField
        type="datetime-local"
        label={`${label} (${zoneWords()})`}
        value={value === undefined ? '' : localIn(zoneNow(), Date.parse(value))}
        onChange={event => onChange(name, momentIn(zoneNow(), event.target.value))}
      />
    )
  }
  return (
    <>
      {field('started_from', 'Started the bot from')}
      {field('started_to', 'Started the bot before')}
    </>
  )
}

type SeveralProps = {
  label: string
  options: readonly string[]
  words: (option: string) => string
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}

/** A choice of several options, added one by one. */
function MultiSelect({ label, options, words, chosen, onChange }: SeveralProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <SelectField
        label={label}
        value=""
        onChange={event => {
          if (event.target.value !== '') onChange([...chosen, event.target.value])
        }}
      >
        <option value="">{chosen.length === 0 ? 'Any' : 'Add …'}</option>
        {options
          .filter(option => !chosen.includes(option))
          .map(option => (
            <option key={option} value={option}>
              {words(option)}
            </option>
          ))}
      </SelectField>
      {chosen.length > 0 && (
        <ul className="flex flex-wrap gap-1">
          {chosen.map(option => (
            <li key={option} className="flex items-center rounded-sm bg-accent-soft text-sm text-accent">
              <span className="max-w-48 truncate pl-1.5">{words(option)}</span>
              <button
                type="button"
                className="grid size-6 place-items-center"
                aria-label={`Remove ${words(option)}`}
                onClick={() => onChange(chosen.filter(one => one !== option))}
              >
                <X aria-hidden className="size-3" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type ListedProps = {
  label: string
  placeholder: string
  values: readonly string[] | undefined
  onChange: (values: string[] | undefined) => void
}

/** A comma-separated list, applied when the field loses focus. */
function CommaList({ label, placeholder, values, onChange }: ListedProps) {
  const text = values?.join(', ') ?? ''
  return (
    <TextField
      key={text}
      label={label}
      placeholder={placeholder}
      hint="Separate several with commas."
      defaultValue={text}
      onBlur={event => {
        const typed = event.target.value.split(',').map(word => word.trim())
        onChange(typed.filter(word => word !== ''))
      }}
    />
  )
}

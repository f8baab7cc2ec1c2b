/** The filters of the subscriber list: common ones always, rare ones behind a button. */
import { useQuery } from '@tanstack/react-query'
import { SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { COUNTRIES } from '../../../contract/countries.ts'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { listChannels } from '../../../telegram/channels/api.ts'
import { SOURCES, SUBSCRIBER_STATES } from '../../../telegram/subscribers/api.ts'
import { ask } from '../../ground/call.ts'
import { CampaignChoice } from '../../ground/campaign-choice.tsx'
import { country as nameOf } from '../../ground/figures/figures.ts'
import type { SubscribersSearch } from '../../ground/lists.ts'
import { inWords } from '../../ground/rungs.ts'
import { BetweenDays } from '../../ground/ui/between-days.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { ClearFilters, type ListAddress } from '../../ground/ui/list.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ValueField } from '../../ground/ui/value-field.tsx'
import { BotChoice } from '../bots/bot-choice.tsx'
import { sourceWords, stateWords } from './state.tsx'

type FiltersProps = { address: Pick<ListAddress<SubscribersSearch>, 'search' | 'narrow' | 'clear'> }

/** Filters behind “More filters”, shown at once if one of them is set. */
const RARE = ['source', 'event', 'lacks', 'country', 'sub1', 'language', 'channel', 'outside'] as const

export function SubscriberFilters({ address: { search, narrow, clear } }: FiltersProps) {
  const [isOpened, setOpened] = useState(false)
  const hasRare = RARE.some(name => search[name] !== undefined)
  const { cursor: _, ...filters } = search
  return (
    <>
      <SearchField label="Telegram id" placeholder="Telegram id" value={search.q} onSeek={q => narrow({ q })} />
      <BotChoice bot={search.bot} onChange={bot => narrow({ bot })} />
      <Choice
        label="State"
        any="Any state"
        options={SUBSCRIBER_STATES}
        words={stateWords}
        value={search.state}
        onChange={state => narrow({ state })}
      />
      <CampaignChoice campaign={search.campaign} onChange={campaign => narrow({ campaign })} />
      <BetweenDays happened="First seen" search={search} onChange={narrow} />
      {isOpened || hasRare ? (
        <RareFilters search={search} narrow={narrow} />
      ) : (
        <Button icon={SlidersHorizontal} onClick={() => setOpened(true)}>
          More filters
        </Button>
      )}
      <ClearFilters isNarrowed={Object.values(filters).some(one => one !== undefined)} onClear={clear} />
    </>
  )
}

function RareFilters({ search, narrow }: Pick<FiltersProps['address'], 'search' | 'narrow'>) {
  const channels = useQuery(ask(listChannels, { query: { limit: 200 } })).data?.data ?? []
  const titles = new Map(channels.map(({ id, title }) => [id, title]))
  const countries = [...COUNTRIES.keys()].toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), 'en'))
  const channel = (name: 'channel' | 'outside', label: string) =>
    channels.length > 0 && (
      <Choice
        label={`${label} channel`}
        any={`${label} channel: any`}
        options={[...titles.keys()]}
        words={id => `${label} ${titles.get(id) ?? id}`}
        value={search[name]}
        onChange={chosen => narrow({ [name]: chosen })}
      />
    )
  const event = (name: 'event' | 'lacks', label: string) => (
    <Choice
      label={`${label} event`}
      any={`${label} event: any`}
      options={EVENT_TYPES}
      words={type => `${label} ${inWords(type)}`}
      value={search[name]}
      onChange={chosen => narrow({ [name]: chosen })}
    />
  )
  return (
    <>
      <Choice
        label="Source"
        any="Any source"
        options={SOURCES}
        words={sourceWords}
        value={search.source}
        onChange={source => narrow({ source })}
      />
      {event('event', 'Has')}
      {event('lacks', 'Without')}
      <Choice
        label="Country"
        any="Any country"
        options={countries}
        words={nameOf}
        value={search.country}
        onChange={country => narrow({ country })}
      />
      <ValueField
        label="sub1 of their click, exact match"
        placeholder="sub1"
        value={search.sub1}
        onChange={sub1 => narrow({ sub1 })}
        suggestions={[]}
      />
      <ValueField
        label="Language code from Telegram"
        placeholder="Language"
        value={search.language}
        onChange={language => narrow({ language })}
        suggestions={['en', 'es', 'pt-br', 'ru', 'uk']}
      />
      {channel('channel', 'In')}
      {channel('outside', 'Not in')}
    </>
  )
}

/** The filters of the click log. Countries and sub1 to choose from are those that the report counts in the same days. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { TRACKED } from '../../../reading/feed/api.ts'
import { type ReportDimension, readReportAsMember } from '../../../reading/reports/api.ts'
import { ask } from '../../ground/call.ts'
import { CampaignChoice } from '../../ground/campaign-choice.tsx'
import { country as nameOf } from '../../ground/figures/figures.ts'
import { boundsOf, type Days } from '../../ground/figures/window.ts'
import { DaysChoice } from '../../ground/figures/window-controls.tsx'
import { inWords, CLICK_STATUSES } from '../../ground/rungs.ts'
import { isSought, MoreFilters, NOT_SOUGHT } from '../../ground/more-filters.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { SelectField } from '../../ground/ui/field.tsx'
import { ClearFilters, type ListAddress } from '../../ground/ui/list.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ValueField } from '../../ground/ui/value-field.tsx'
import { type ClicksSearch, UNKNOWN_COUNTRY } from './search.ts'

const TRACKED_WORDS = { true: 'Counted clicks', false: 'Bots, previews, tests', all: 'All clicks' } as const

type FiltersProps = {
  address: Pick<ListAddress<ClicksSearch>, 'search' | 'narrow'>
  days: Days
  today: string
  /** Countries of the clicks on screen: uncounted clicks may have other ones than the report. */
  seen: readonly (string | null)[]
}

export function ClickFilters({ address: { search, narrow }, days, today, seen }: FiltersProps) {
  const among = { days, campaign: search.campaign }
  const { campaign, status, tracked, country, sub1, q, type } = search
  const filters = [campaign, status, tracked, country, sub1, q, type]
  return (
    <>
      <SearchField
        label="Click, source click or transaction id"
        placeholder="Any id"
        value={search.q}
        onSeek={q => narrow({ q })}
      />
      <CampaignChoice campaign={search.campaign} onChange={campaign => narrow({ campaign })} />
      <Choice
        label="Status"
        any="Any status"
        options={CLICK_STATUSES}
        words={inWords}
        value={search.status}
        onChange={status => narrow({ status })}
      />
      <SelectField
        label="Counted"
        hideLabel
        toolbar
        className="min-w-32 flex-1 sm:flex-none"
        value={search.tracked ?? 'true'}
        onChange={event => {
          const tracked = TRACKED.find(one => one === event.target.value)
          narrow({ tracked: tracked === 'true' ? undefined : tracked })
        }}
      >
        {TRACKED.map(one => (
          <option key={one} value={one}>
            {TRACKED_WORDS[one]}
          </option>
        ))}
      </SelectField>
      <CountryChoice {...among} value={search.country} seen={seen} onChange={country => narrow({ country })} />
      <Sub1Field {...among} value={search.sub1} onChange={sub1 => narrow({ sub1 })} />
      <Choice
        label="Conversion"
        any="Any conversion"
        options={EVENT_TYPES}
        words={inWords}
        value={type}
        onChange={chosen => narrow({ type: chosen })}
      />
      <DaysChoice search={search} days={days} today={today} onChange={narrow} />
      <MoreFilters search={search} amount="Revenue" onChange={narrow} />
      <ClearFilters
        isNarrowed={isSought(search) || filters.some(one => one !== undefined)}
        onClear={() =>
          narrow({
            ...NOT_SOUGHT,
            campaign: undefined,
            status: undefined,
            tracked: undefined,
            country: undefined,
            sub1: undefined,
            q: undefined,
            type: undefined,
          })
        }
      />
    </>
  )
}

type Among = { days: Days; campaign: string | undefined }

/** The values that tracked clicks have; none before `isAsked`. */
function useCounted(dimension: ReportDimension, { days, campaign }: Among, isAsked = true): string[] {
  const query = { dimension, ...boundsOf(days), campaign_id: campaign }
  const report = useQuery({ ...ask(readReportAsMember, { query }), enabled: isAsked })
  return report.data?.rows.filter(({ clicks }) => clicks > 0).map(({ key }) => key) ?? []
}

type CountryProps = Among & {
  value: string | undefined
  onChange: (country: string | undefined) => void
  seen: readonly (string | null)[]
}

function CountryChoice({ value, onChange, seen, ...among }: CountryProps) {
  const counted = useCounted('geo', among)
  const named = new Set([...counted, ...seen, value].filter(one => one && one !== UNKNOWN_COUNTRY) as string[])
  const options = [...named].toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), 'en'))
  return (
    <Choice
      label="Country"
      any="Any country"
      options={[...options, UNKNOWN_COUNTRY]}
      words={one => (one === UNKNOWN_COUNTRY ? 'Unknown country' : nameOf(one))}
      value={value}
      onChange={onChange}
    />
  )
}

type Sub1Props = Among & { value: string | undefined; onChange: (sub1: string | undefined) => void }

function Sub1Field({ value, onChange, ...among }: Sub1Props) {
  const [isAsked, setIsAsked] = useState(false)
  const counted = useCounted('sub1', among, isAsked)
  return (
    <ValueField
      label="sub1, exactly"
      placeholder="sub1"
      value={value}
      onChange={onChange}
      suggestions={counted.filter(one => one !== '')}
      onFocus={() => setIsAsked(true)}
    />
  )
}

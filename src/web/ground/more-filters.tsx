/** Filters that the logs of clicks and of conversions share: network, source, offer, landing, and amounts. */
import { useQuery } from '@tanstack/react-query'
import { ListFilter } from 'lucide-react'
import { useState } from 'react'
import { listNetworks } from '../../intake/networks/api.ts'
import { listLandings } from '../../traffic/landings/api.ts'
import { listOffers } from '../../traffic/offers/api.ts'
import { listTrafficSources } from '../../traffic/sources/api.ts'
import { ask } from './call.ts'
import type { SoughtSearch } from './lists.ts'
import { Button } from './ui/button.tsx'
import { Choice } from './ui/choice.tsx'
import { ValueField } from './ui/value-field.tsx'

const MOST = { query: { limit: 200 } }
const CHOICES = [
  { field: 'network', label: 'Network', any: 'Any network', list: ask(listNetworks, MOST) },
  { field: 'source', label: 'Source', any: 'Any source', list: ask(listTrafficSources, MOST) },
  { field: 'offer', label: 'Offer', any: 'Any offer', list: ask(listOffers, MOST) },
  { field: 'landing', label: 'Landing', any: 'Any landing', list: ask(listLandings, MOST) },
] as const

const AMOUNT = /^\d{1,9}(\.\d{1,6})?$/

/** The filters as both lists' endpoints take them. */
export const soughtQuery = ({ network, source, offer, landing, least, most }: SoughtSearch) => ({
  network_id: network,
  traffic_source_id: source,
  offer_id: offer,
  landing_id: landing,
  payout_from: least,
  payout_to: most,
})

/** No filter of these. */
export const NOT_SOUGHT: SoughtSearch = {
  network: undefined,
  source: undefined,
  offer: undefined,
  landing: undefined,
  least: undefined,
  most: undefined,
}

export const isSought = ({ network, source, offer, landing, least, most }: SoughtSearch): boolean =>
  [network, source, offer, landing, least, most].some(one => one !== undefined)

type MoreFiltersProps = {
  search: SoughtSearch
  /** The word for the amount, such as "Payout". */
  amount: string
  onChange: (changes: Partial<SoughtSearch>) => void
}

/** A button that shows the rarer filters; they stay while one of them is set. */
export function MoreFilters({ search, amount, onChange }: MoreFiltersProps) {
  const [isOpened, setOpened] = useState(false)
  const isShown = isOpened || isSought(search)
  if (!isShown)
    return (
      <Button icon={ListFilter} look="quiet" aria-expanded={false} onClick={() => setOpened(true)}>
        More filters
      </Button>
    )
  const bound = (field: 'least' | 'most', words: string) => (
    <ValueField
      label={`${amount} in $, ${words}`}
      placeholder={`${amount} ${words}`}
      value={search[field]}
      suggestions={[]}
      onChange={typed => onChange({ [field]: typed !== undefined && AMOUNT.test(typed) ? typed : undefined })}
    />
  )
  return (
    <>
      {CHOICES.map(({ field, ...choice }) => (
        <ObjectChoice key={field} {...choice} value={search[field]} onChange={id => onChange({ [field]: id })} />
      ))}
      {bound('least', 'from')}
      {bound('most', 'to')}
    </>
  )
}

type ObjectChoiceProps = {
  label: string
  any: string
  list: (typeof CHOICES)[number]['list']
  value: string | undefined
  onChange: (id: string | undefined) => void
}

function ObjectChoice({ label, any, list, value, onChange }: ObjectChoiceProps) {
  const rows: readonly { id: string; name: string }[] = useQuery(list as (typeof CHOICES)[0]['list']).data?.data ?? []
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  const known = [...names.keys()]
  return (
    <Choice
      label={label}
      any={any}
      options={value === undefined || names.has(value) ? known : [value, ...known]}
      words={id => names.get(id) ?? id}
      value={value}
      onChange={onChange}
    />
  )
}

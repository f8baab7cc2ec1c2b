/** What a domain answers at a path: 404, a redirect, or a campaign. */
import type { z } from 'zod'
import type { Place } from '../../../traffic/domains/api.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Note } from '../../ground/ui/refusal.tsx'

type PlaceRow = z.input<typeof Place>

const WORDS: Record<PlaceRow['type'], string> = {
  not_found: 'Nothing (404)',
  redirect: 'A redirect',
  campaign: 'A campaign',
}
const TYPES = Object.keys(WORDS) as PlaceRow['type'][]

export function placeInWords(place: PlaceRow): string {
  return place.type === 'redirect' ? place.url : WORDS[place.type]
}

type PlaceFieldsProps = {
  label: string
  place: PlaceRow
  onChange: (place: PlaceRow) => void
  /** The warning shown if a campaign is chosen. */
  warning?: string
}

export function DomainPlaceFields({ label, place, onChange, warning }: PlaceFieldsProps) {
  const campaigns = useCampaigns()
  const choose = (type: string) => {
    if (type === 'redirect') onChange({ type, url: '' })
    else if (type === 'campaign') onChange({ type, campaign_id: campaigns[0]?.id ?? '' })
    else onChange({ type: 'not_found' })
  }
  const known = campaigns.map(({ id }) => id)
  return (
    <div className="flex flex-col gap-3">
      <SelectField label={label} value={place.type} onChange={event => choose(event.target.value)}>
        {TYPES.map(type => (
          <option key={type} value={type}>
            {WORDS[type]}
          </option>
        ))}
      </SelectField>
      {place.type === 'redirect' && (
        <TextField
          label={`Address for ${label.toLowerCase()}`}
          placeholder="https://"
          hint="Path and query are not passed on."
          value={place.url}
          onChange={event => onChange({ type: 'redirect', url: event.target.value })}
        />
      )}
      {place.type === 'campaign' && (
        <SelectField
          label={`Campaign for ${label.toLowerCase()}`}
          value={place.campaign_id}
          onChange={event => onChange({ type: 'campaign', campaign_id: event.target.value })}
        >
          {!known.includes(place.campaign_id) && (
            <option value={place.campaign_id}>{place.campaign_id === '' ? 'Choose one' : place.campaign_id}</option>
          )}
          {campaigns.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      {place.type === 'campaign' && warning !== undefined && <Note kind="warning">{warning}</Note>}
    </div>
  )
}

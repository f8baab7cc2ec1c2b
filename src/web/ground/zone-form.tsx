/** The form for a time zone that this browser knows. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { SelectField } from './ui/field.tsx'
import { PartForm } from './ui/part-form.tsx'
import { notify } from './ui/toast.tsx'
import { useUnsaved } from './ui/unsaved.ts'
import { ownZone, ZONE_NAMES } from './zone-names.ts'

type ZoneFormProps = {
  zone: string | null
  /** The label of the choice of no zone, where that is possible. */
  none?: string
  reason?: string | undefined
  save: (zone: string | null) => Promise<void>
}

/** The zones by continent. UTC belongs to none. */
function zonesByPlace(chosen: string | null): [place: string, zones: string[]][] {
  const known = new Set(ZONE_NAMES.filter(zone => zone.includes('/')))
  if (chosen !== null && chosen !== 'UTC') known.add(chosen)
  const zones = [...known].toSorted((one, other) => one.localeCompare(other, 'en'))
  return [...Map.groupBy(zones, zone => zone.split('/')[0] ?? '')]
}

export function ZoneForm({ zone, none, reason, save }: ZoneFormProps) {
  const [chosen, setChosen] = useState(zone)
  useUnsaved(chosen !== zone, 'the time zone')
  const saving = useMutation({
    mutationFn: () => save(chosen),
    onSuccess: () => notify('The time zone is saved'),
  })
  const here = ownZone()
  return (
    <PartForm
      className="max-w-md"
      action="Save time zone"
      onSubmit={() => saving.mutate()}
      save={saving}
      reason={reason}
    >
      <SelectField
        label="Time zone"
        hideLabel
        hint={`This browser is in ${here}.`}
        value={chosen ?? ''}
        onChange={event => setChosen(event.target.value === '' ? null : event.target.value)}
      >
        {none !== undefined && <option value="">{none}</option>}
        <option value="UTC">UTC</option>
        {zonesByPlace(zone).map(([place, zones]) => (
          <optgroup key={place} label={place}>
            {zones.map(one => (
              <option key={one} value={one}>
                {one.replaceAll('_', ' ')}
              </option>
            ))}
          </optgroup>
        ))}
      </SelectField>
    </PartForm>
  )
}

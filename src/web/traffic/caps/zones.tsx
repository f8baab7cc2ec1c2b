/** The time zones that the browser knows, for selects. */
import { ZONE_NAMES } from '../../ground/zone-names.ts'

/** `also`: one that was set by another name. */
export function ZoneOptions({ also }: { also: string }) {
  const names = ['UTC', ...ZONE_NAMES.filter(name => name !== 'UTC')]
  const all = also === '' || names.includes(also) ? names : [also, ...names]
  return all.map(name => (
    <option key={name} value={name}>
      {name.replaceAll('_', ' ')}
    </option>
  ))
}

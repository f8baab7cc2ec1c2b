/** The options of a time zone select: the zones that the browser knows. */
import { ZONE_NAMES } from '../../ground/zone-names.ts'

/** `also` is the saved zone, which may have a name that the browser's list lacks. */
export function ZoneOptions({ also }: { also: string }) {
  const names = ['UTC', ...ZONE_NAMES.filter(name => name !== 'UTC')]
  const all = also === '' || names.includes(also) ? names : [also, ...names]
  return all.map(name => (
    <option key={name} value={name}>
      {name.replaceAll('_', ' ')}
    </option>
  ))
}

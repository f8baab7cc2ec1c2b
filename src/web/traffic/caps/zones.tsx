/** The time zones that the browser knows, for selects. */

const ZONES = Intl.supportedValuesOf('timeZone')

/** The zone of whoever sits there. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** `also`: one that was set by another name. */
export function ZoneOptions({ also }: { also: string }) {
  const names = ['UTC', ...ZONES.filter(name => name !== 'UTC')]
  const all = also === '' || names.includes(also) ? names : [also, ...names]
  return all.map(name => (
    <option key={name} value={name}>
      {name.replaceAll('_', ' ')}
    </option>
  ))
}

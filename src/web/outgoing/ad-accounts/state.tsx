/** The badge for an ad account's state. */
import { Badge } from '../../ground/ui/badge.tsx'
import type { AdAccountRow } from './form-values.ts'

export function AdAccountBadge({ state }: Pick<AdAccountRow, 'state'>) {
  if (state === 'active') return <Badge tone="good">Active</Badge>
  if (state === 'broken') return <Badge tone="bad">Broken</Badge>
  return <Badge tone="warn">Off</Badge>
}

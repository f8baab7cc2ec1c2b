/** The badge for a spend account's state. */
import { Badge } from '../../ground/ui/badge.tsx'
import type { SpendAccountRow } from './form-values.ts'

type StateProps = Pick<SpendAccountRow, 'state' | 'fault' | 'is_syncing' | 'synced_at'>

export function SpendAccountBadge({ state, fault, is_syncing, synced_at }: StateProps) {
  if (state === 'off') return <Badge>Off</Badge>
  if (is_syncing) return <Badge tone="accent">Reading</Badge>
  if (fault !== null) return <Badge tone="bad">Failed</Badge>
  if (synced_at === null) return <Badge tone="accent">Queued</Badge>
  return <Badge tone="good">Up to date</Badge>
}

/** Whether the account is being read or is about to be, so that the screen polls. */
export const isReadSoon = ({ state, is_syncing, next_sync_at }: SpendAccountRow): boolean =>
  state === 'active' && (is_syncing || Date.parse(next_sync_at) <= Date.now())

export const POLL_MS = 2000

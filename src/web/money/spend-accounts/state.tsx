/** The state of a spend account in a word. */
import { Badge } from '../../ground/ui/badge.tsx'
import type { Account } from './typed.ts'

type StateProps = Pick<Account, 'state' | 'fault' | 'is_syncing' | 'synced_at'>

export function AccountState({ state, fault, is_syncing, synced_at }: StateProps) {
  if (state === 'off') return <Badge>Off</Badge>
  if (is_syncing) return <Badge tone="accent">Being read</Badge>
  if (fault !== null) return <Badge tone="bad">Not read</Badge>
  if (synced_at === null) return <Badge tone="accent">About to be read</Badge>
  return <Badge tone="good">Up to date</Badge>
}

/** While something is about to change by itself, the screen looks again. */
export const isMoving = ({ state, is_syncing, next_sync_at }: Account): boolean =>
  state === 'active' && (is_syncing || Date.parse(next_sync_at) <= Date.now())

export const LOOK_AGAIN_MS = 2000

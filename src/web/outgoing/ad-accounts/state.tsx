/** The state of an ad account in a word. */
import { Badge } from '../../ground/ui/badge.tsx'
import type { Account } from './typed.ts'

export function AccountState({ state }: Pick<Account, 'state'>) {
  if (state === 'active') return <Badge tone="good">Active</Badge>
  if (state === 'broken') return <Badge tone="bad">Broken</Badge>
  return <Badge tone="warn">Off</Badge>
}

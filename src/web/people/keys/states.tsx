/** The words and badges for a key's state and for the state of its permissions. */
import type { z } from 'zod'
import type { ApiKey } from '../../../people/keys/api.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

export type KeyRow = z.input<typeof ApiKey>

const STATES: Record<KeyRow['state'], { tone: Tone; word: string; means: string }> = {
  accepted: { tone: 'good', word: 'Accepted', means: 'Calls with this key are accepted.' },
  disabled: { tone: 'warn', word: 'Disabled', means: 'Every call answers 401 until it is enabled again.' },
  expired: { tone: 'warn', word: 'Expired', means: 'Every call answers 401 until a later expiry is set.' },
  revoked: { tone: 'bad', word: 'Revoked', means: 'Every call answers 401. This cannot be undone.' },
}

const PERMISSIONS: Record<KeyRow['permission_state'], { tone: Tone; word: string; means: string }> = {
  fresh: {
    tone: 'warn',
    word: 'Never saved',
    means:
      'Until permissions are saved for the first time, the key may report conversions over HTTP (POST /api/events) and nothing else.',
  },
  granted: { tone: 'accent', word: 'Granted', means: 'The key has only the rights listed.' },
  emptied: {
    tone: 'plain',
    word: 'Nothing',
    means: 'All permissions were revoked. The key may do nothing, not even report conversions.',
  },
}

export const meaningOfState = (state: KeyRow['state']) => STATES[state].means
export const meaningOfPermissions = (state: KeyRow['permission_state']) => PERMISSIONS[state].means

export function KeyStateBadge({ state }: { state: KeyRow['state'] }) {
  const { tone, word, means } = STATES[state]
  return (
    <Badge tone={tone} title={means}>
      {word}
    </Badge>
  )
}

export function PermissionBadge({ state }: { state: KeyRow['permission_state'] }) {
  const { tone, word, means } = PERMISSIONS[state]
  return (
    <Badge tone={tone} title={means}>
      {word}
    </Badge>
  )
}

/** Why the signed-in person may not change this key's rights or disable it. Undefined when they may. */
export function reasonNotMine(key: KeyRow): string | undefined {
  if (key.state === 'revoked') return 'A revoked key cannot be changed.'
  return key.is_yours ? undefined : `Only its owner, ${key.owner.name}, can do this.`
}

/** How objects are read for the history. */
import type { Ground } from '../../ground/room.ts'

/** The workspace, the person or the owner of the key who acts, and the transaction to read in. */
export type Reading = Ground & {
  readonly org_id: number
  readonly organization_id: string
  readonly user_id: string
  readonly session_id: string
}

/** What one has set up beside the password, and reading it anew when that has changed. */
import { useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import { listSessions } from '../../../people/accounts/api.ts'
import { listMembers } from '../../../people/organizations/api.ts'
import { readSecondFactor, type SecondFactor } from '../../../people/second-factor/api.ts'
import { ask } from '../../ground/call.ts'
import { whoIsSignedIn } from './session.ts'

export type Factor = z.input<typeof SecondFactor>

export const mySecondFactor = ask(readSecondFactor)

/**
 * Also who is signed in, by which the frame knows whether a workspace is open to them; and the session, which may be a new one. The frame may
 * make the page anew by it, so what is shown once must have been kept before.
 */
export function useFactorAgain() {
  const queries = useQueryClient()
  return async () => {
    const keys = [mySecondFactor.queryKey, whoIsSignedIn.queryKey, [listSessions.route], [listMembers.route]]
    await Promise.all(keys.map(queryKey => queries.invalidateQueries({ queryKey })))
  }
}

/** The person's second factors, and how the dashboard reads them again after a change. */
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
 * Reads the second factors again, and the session with them: the change may have begun a new session, and it decides whether a
 * workspace that requires a second factor opens. The page may be mounted again, so recovery codes must have been saved before this
 * is called.
 */
export function useFactorRefresh() {
  const queries = useQueryClient()
  return async () => {
    const keys = [mySecondFactor.queryKey, whoIsSignedIn.queryKey, [listSessions.route], [listMembers.route]]
    await Promise.all(keys.map(queryKey => queries.invalidateQueries({ queryKey })))
  }
}

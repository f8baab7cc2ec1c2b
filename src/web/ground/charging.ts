/** Whether persons cost something in this workspace. Where they do not, no screen speaks of billing. */
import { useQuery } from '@tanstack/react-query'
import { readBalanceNotice } from '../../money/billing/api.ts'
import { ask } from './call.ts'

const balanceNotice = ask(readBalanceNotice)

/** False until that is known. */
export function useIsCharging(): boolean {
  return useQuery(balanceNotice).data?.is_charging === true
}

/** Whether this workspace is charged per person. If not, no screen mentions billing. */
import { useQuery } from '@tanstack/react-query'
import { readBalanceNotice } from '../../money/billing/api.ts'
import { ask } from './call.ts'

const balanceNotice = ask(readBalanceNotice)

/** False until the answer is loaded. */
export function useIsCharging(): boolean {
  return useQuery(balanceNotice).data?.is_charging === true
}

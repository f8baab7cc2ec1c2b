/** Reads what needs attention, every minute. */
import { useQuery } from '@tanstack/react-query'
import { MINUTE_MS } from '../../../contract/days.ts'
import { readAttention } from '../../../reading/attention/api.ts'
import { ask } from '../../ground/call.ts'

const AGAIN_MS = MINUTE_MS

export const useAttention = () => useQuery({ ...ask(readAttention), refetchInterval: AGAIN_MS })

/** Reads what needs attention, every minute. */
import { useQuery } from '@tanstack/react-query'
import { readAttention } from '../../../reading/attention/api.ts'
import { ask } from '../../ground/call.ts'

const AGAIN_MS = 60_000

export const useAttention = () => useQuery({ ...ask(readAttention), refetchInterval: AGAIN_MS })

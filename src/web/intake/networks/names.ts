/** Networks by name, where something came from one. */
import { useQuery } from '@tanstack/react-query'
import { listNetworks } from '../../../intake/networks/api.ts'
import { ask } from '../../ground/call.ts'

const MOST = 200

/** The newest networks; older and deleted ones have no name here. */
export function useNetworkNames(): ReadonlyMap<string, string> {
  const networks = useQuery(ask(listNetworks, { query: { limit: MOST } })).data?.data
  return new Map(networks?.map(({ id, name }) => [id, name]))
}

type Reported = { source: string; payload: Record<string, unknown> | null }

/** Which network reported a conversion, and the word it used for it. Only what Sluice itself wrote down is believed. */
export function reportOf({ source, payload }: Reported): {
  network_id: string | undefined
  status: string | undefined
} {
  const text = (value: unknown) => (source === 'network' && typeof value === 'string' ? value : undefined)
  return { network_id: text(payload?.['network_id']), status: text(payload?.['status']) }
}

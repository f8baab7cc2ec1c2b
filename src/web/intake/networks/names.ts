/** Names of networks, for lists that show which network reported a conversion. */
import { useQuery } from '@tanstack/react-query'
import { listNetworks } from '../../../intake/networks/api.ts'
import { ask } from '../../ground/call.ts'

const MOST = 200

/** The names of the newest networks by id. Older and deleted networks are missing. */
export function useNetworkNames(): ReadonlyMap<string, string> {
  const networks = useQuery(ask(listNetworks, { query: { limit: MOST } })).data?.data
  return new Map(networks?.map(({ id, name }) => [id, name]))
}

type ReportedEvent = { source: string; payload: Record<string, unknown> | null }

/** Which network reported a conversion, and with which status. The payload of other sources is the sender's and not trusted. */
export function reportOf({ source, payload }: ReportedEvent): {
  network_id: string | undefined
  status: string | undefined
} {
  const text = (value: unknown) => (source === 'network' && typeof value === 'string' ? value : undefined)
  return { network_id: text(payload?.['network_id']), status: text(payload?.['status']) }
}

/** One broadcast: the form until it starts, then its progress. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { readBroadcast } from '../../../telegram/broadcasts/api.ts'
import { ask } from '../../ground/call.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { EditPart } from './edit-part.tsx'
import { RunPart } from './run-part.tsx'
import { isOpen, isUnderWay } from './state.tsx'

const route = getRouteApi('/inside/broadcasts/$id')
const RUNNING_POLL_MS = 1500
const IDLE_POLL_MS = 30_000

export function BroadcastPage() {
  const { id } = route.useParams()
  const { state } = route.useSearch()
  const broadcast = useQuery({
    ...ask(readBroadcast, { params: { id } }),
    refetchInterval: query => {
      const { data } = query.state
      return data === undefined || data.state === 'draft' ? false : isUnderWay(data) ? RUNNING_POLL_MS : IDLE_POLL_MS
    },
  })
  return (
    <>
      <BackLink to="/broadcasts">Broadcasts</BackLink>
      <Loaded query={broadcast} title="Broadcast">
        {found =>
          isOpen(found) ? (
            <EditPart key={`${found.id} ${found.updated_at}`} broadcast={found} />
          ) : (
            <RunPart broadcast={found} outcome={state} />
          )
        }
      </Loaded>
      <ObjectHistory kind="broadcast" id={id} />
    </>
  )
}

/** Marks a row of a list whose cap is reached, which explains why it gets no visitors. */
import { useQuery } from '@tanstack/react-query'
import { listCaps } from '../../../traffic/caps/api.ts'
import { ask } from '../../ground/call.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { limitOf } from './limit.ts'

/** One request for all rows of a list. */
const allCaps = ask(listCaps, { query: { limit: 200 } })

export function ReachedBadge({ of }: { of: string }) {
  const reached = useQuery(allCaps).data?.data.find(({ object_id, state }) => object_id === of && state === 'reached')
  return reached === undefined ? null : (
    <Badge tone="warn" title={`Reached: ${limitOf(reached)}`}>
      Cap reached
    </Badge>
  )
}

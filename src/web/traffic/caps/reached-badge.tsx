/** Says in a list that a cap is reached, so that nobody wonders where the visitors are. */
import { useQuery } from '@tanstack/react-query'
import { listCaps } from '../../../traffic/caps/api.ts'
import { ask } from '../../ground/call.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { limitOf } from './limit.ts'

/** One question for all rows of a list. */
const all = ask(listCaps, { query: { limit: 200 } })

export function ReachedBadge({ of }: { of: string }) {
  const reached = useQuery(all).data?.data.find(({ object_id, state }) => object_id === of && state === 'reached')
  return reached === undefined ? null : (
    <Badge tone="warn" title={`Reached: ${limitOf(reached)}`}>
      Cap reached
    </Badge>
  )
}

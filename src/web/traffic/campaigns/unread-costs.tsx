/** How many clicks of a campaign should have had a cost in their link, but had no readable one. */
import { useQuery } from '@tanstack/react-query'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { ask } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { useToday } from '../../ground/figures/now.ts'
import { boundsOf, daysOf } from '../../ground/figures/window.ts'

export function UnreadCosts({ campaign_id }: { campaign_id: string }) {
  const today = useToday()
  const query = { dimension: 'campaign', campaign_id, ...boundsOf(daysOf({ range: '30d' }, today)) }
  const totals = useQuery(ask(readReportAsMember, { query })).data?.totals
  if (totals === undefined || totals.unread_costs === 0) return null
  return (
    <span>
      {`In the last 30 days ${count(totals.unread_costs)} of ${count(totals.clicks)} clicks had no readable cost.`}
    </span>
  )
}

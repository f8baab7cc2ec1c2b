/** The source of the cost of all campaigns or of the chosen one, from the report's counters, because single clicks do not have it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { ask } from '../../ground/call.ts'
import { boundsOf, type Days, isTooWide } from '../../ground/figures/window.ts'
import { type ExploreSearch, onlyCampaign } from './search.ts'

const SOURCES: Readonly<Record<string, string>> = {
  manual: 'manual entry',
  api: 'the API',
  spread: 'spread amounts',
  account: 'spend accounts',
  link: 'campaign links',
  mixed: 'several sources',
}

export function CostSource({ search, days }: { search: ExploreSearch; days: Days }) {
  const campaign_id = onlyCampaign(search)
  const isTold = !isTooWide(days) && (search.where ?? []).length === (campaign_id === undefined ? 0 : 1)
  const query = {
    dimension: 'campaign' as const,
    ...boundsOf(days),
    ...(campaign_id === undefined ? {} : { campaign_id }),
  }
  const report = useQuery({ ...ask(readReportAsMember, { query }), placeholderData: keepPreviousData, enabled: isTold })
  const source = report.data?.totals.cost_source
  if (!isTold || source == null) return null
  return <p className="mt-2 text-sm text-ink-faint">{`Cost from: ${SOURCES[source] ?? source}.`}</p>
}

/** Traffic sources by name, and the control that narrows a page to one of them. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { listTrafficSources, type TrafficSource } from '../../traffic/sources/api.ts'
import { ask } from './call.ts'
import { useCampaigns } from './campaign-choice.tsx'
import { Choice } from './ui/choice.tsx'

type SourceRow = z.input<typeof TrafficSource>

const newest = ask(listTrafficSources, { query: { limit: 200 } })

export function useSources(): readonly SourceRow[] {
  return useQuery(newest).data?.data ?? []
}

/** The source of an id, once it is known. */
export function useSource(id: string | undefined): SourceRow | undefined {
  return useSources().find(source => source.id === id)
}

/** What sub1 holds of the clicks of a campaign, as its source names it: "Zone". Nothing where the source does not say. */
export function useNameOfSub1(campaign_id: string | undefined): string | undefined {
  const campaign = useCampaigns().find(({ id }) => id === campaign_id)
  const source = useSource(campaign?.traffic_source_id ?? undefined)
  return source?.parameters.find(({ field }) => field === 'sub1')?.label ?? undefined
}

type SourceChoiceProps = { source: string | undefined; onChange: (source: string | undefined) => void }

export function SourceChoice({ source, onChange }: SourceChoiceProps) {
  const sources = useSources()
  if (sources.length === 0 && source === undefined) return null
  const known = sources.map(({ id }) => id)
  return (
    <Choice
      label="Source"
      any="All rules"
      options={source === undefined || known.includes(source) ? known : [source, ...known]}
      words={id => sources.find(one => one.id === id)?.name ?? id}
      value={source}
      onChange={onChange}
      className="w-40"
    />
  )
}

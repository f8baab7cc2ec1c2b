/** Traffic sources by name, and the control that filters a page by one of them. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { listTrafficSources, type TrafficSource } from '../../traffic/sources/api.ts'
import { ask } from './call.ts'
import { Choice } from './ui/choice.tsx'

type SourceRow = z.input<typeof TrafficSource>

const newest = ask(listTrafficSources, { query: { limit: 200 } })

export function useSources(): readonly SourceRow[] {
  return useQuery(newest).data?.data ?? []
}

export function useSource(id: string | undefined): SourceRow | undefined {
  return useSources().find(source => source.id === id)
}

type SourceChoiceProps = {
  /** The words for no filter. */
  any?: string
  source: string | undefined
  onChange: (source: string | undefined) => void
}

export function SourceChoice({ any = 'All rules', source, onChange }: SourceChoiceProps) {
  const sources = useSources()
  if (sources.length === 0 && source === undefined) return null
  const known = sources.map(({ id }) => id)
  return (
    <Choice
      label="Source"
      any={any}
      options={source === undefined || known.includes(source) ? known : [source, ...known]}
      words={id => sources.find(one => one.id === id)?.name ?? id}
      value={source}
      onChange={onChange}
      className="w-40"
    />
  )
}

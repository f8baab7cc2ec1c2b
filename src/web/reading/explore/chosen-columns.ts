/** A person's own choice of columns, used in every browser where an address names none. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { replacePreferences } from '../../../people/accounts/api.ts'
import { myPreferences } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { useEventSettings } from '../../ground/figures/goals.ts'
import { type ChosenColumns, usualIds, withColumns } from './columns.ts'
import { ExploreSearch } from './search.ts'

const Chosen = ExploreSearch.pick({ columns: true, own: true, colours: true }).catch({})

/** `complete` adds the person's columns to an address; `choose` saves a new choice, `undefined` for the default columns. */
export function useChosenColumns() {
  const queries = useQueryClient()
  const preferences = useQuery(myPreferences).data
  const usual = usualIds(useTypesOf([]))
  const chosen: ChosenColumns = Chosen.parse(preferences?.report_columns ?? {})
  return {
    usual,
    complete: (search: ExploreSearch) => withColumns(search, chosen, usual),
    choose: async (columns: ChosenColumns | undefined) => {
      const report_columns = columns === undefined ? null : JSON.parse(JSON.stringify(columns))
      const body = { timezone: preferences?.timezone ?? null, report_columns }
      queries.setQueryData(myPreferences.queryKey, await call(replacePreferences, { body }))
    },
  }
}

/** The types of events that have a column: those in the days shown (`found`), those that the workspace names, and those that its goal counts. */
export function useTypesOf(found: readonly EventType[] = []): readonly EventType[] {
  const { goal, names } = useEventSettings()
  const used = new Set<string>([...found, ...(goal ?? []), ...Object.keys(names)])
  return EVENT_TYPES.filter(type => used.has(type))
}

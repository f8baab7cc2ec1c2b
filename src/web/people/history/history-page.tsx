/** The history of the workspace: every change of its objects, newest first. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { History } from 'lucide-react'
import { exportHistory, listHistory } from '../../../people/history/api.ts'
import { ask } from '../../ground/call.ts'
import { Changes } from '../../ground/history/changes.tsx'
import { KIND_OPTIONS, kindInWords } from '../../ground/history/words.ts'
import { Choice } from '../../ground/ui/choice.tsx'
import { ClearFilters, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'

const route = getRouteApi('/inside/history')

export function HistoryPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow, clear } = address
  const { cursor, ...filters } = search
  const changes = useQuery({
    ...ask(listHistory, { query: { ...filters, cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader title="History" words="Who changed what. A change can be put back while nothing else has changed it.">
        <Choice
          label="Kind"
          any="Any kind"
          options={KIND_OPTIONS}
          words={kindInWords}
          value={search.kind}
          onChange={kind => narrow({ kind, id: undefined })}
        />
        <ClearFilters isNarrowed={Object.values(filters).some(value => value !== undefined)} onClear={clear} />
        <SaveCsv endpoint={exportHistory} query={filters} name="history" />
      </PageHeader>
      <List
        query={changes}
        address={address}
        what="changes"
        empty={
          <EmptyState
            icon={History}
            title="Nothing was changed yet"
            words="Changes of campaigns, offers and all other objects appear here."
          />
        }
      >
        {rows => <Changes rows={rows} isOfOne={search.id !== undefined} />}
      </List>
    </>
  )
}

/** The tools of the table: choose columns, download CSV, switch to the heat map. */
import { useMutation } from '@tanstack/react-query'
import { Columns3, Download } from 'lucide-react'
import { useState } from 'react'
import type { EventType } from '../../../contract/event-types.ts'
import { Button } from '../../ground/ui/button.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { fileColumnsOf } from './columns.ts'
import { ColumnsDialog } from './columns-dialog.tsx'
import { ShadeChoice } from './heat-map.tsx'
import type { Question } from './question.ts'
import { saveCsv } from './save-csv.ts'
import type { Change, ExploreSearch } from './search.ts'
import { Segments } from './segments.tsx'

type ToolsProps = {
  search: ExploreSearch
  question: Question
  types: readonly EventType[]
  name: string
  onChange: Change
}

export function Tools({ search, question, types, name, onChange }: ToolsProps) {
  const [choosing, setChoosing] = useState(false)
  const saving = useMutation({
    mutationFn: () => saveCsv({ ...question, columns: fileColumnsOf(search) }, `sluice-report-${name}.csv`),
  })
  return (
    <div className="flex flex-wrap items-center gap-2">
      {search.view === 'hours' ? (
        <ShadeChoice shade={search.shade} onChange={shade => onChange({ shade })} />
      ) : (
        <>
          <Button size="sm" icon={Columns3} onClick={() => setChoosing(true)}>
            Columns
          </Button>
          <Button size="sm" icon={Download} pending={saving.isPending} onClick={() => saving.mutate()}>
            CSV
          </Button>
        </>
      )}
      <Segments
        label="Shown as"
        segments={([undefined, 'hours'] as const).map(view => ({
          title: view === undefined ? 'Table' : 'Heat map',
          isNow: search.view === view,
          onSelect: () => onChange({ view }),
        }))}
      />
      <RefusalNote refused={saving.error} className="w-full" />
      <ColumnsDialog
        isOpen={choosing}
        search={search}
        types={types}
        onChange={onChange}
        onClose={() => setChoosing(false)}
      />
    </div>
  )
}

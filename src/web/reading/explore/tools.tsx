/** What is done with the table as a whole: its columns chosen, saved as a file, or shown as a map of hours. */
import { useMutation } from '@tanstack/react-query'
import { clsx } from 'clsx'
import { Columns3, Download } from 'lucide-react'
import { useState } from 'react'
import type { EventType } from '../../../contract/event-types.ts'
import { Button } from '../../ground/ui/button.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { fileColumnsOf } from './columns.ts'
import { ColumnsDialog } from './columns-dialog.tsx'
import { ShadeChoice } from './hours.tsx'
import type { Question } from './question.ts'
import { saveCsv } from './save-csv.ts'
import type { Change, ExploreSearch } from './search.ts'

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
      <nav aria-label="Shown as" className="flex rounded-md border border-line bg-sunken p-0.5">
        {([undefined, 'hours'] as const).map(view => (
          <button
            key={view ?? 'table'}
            type="button"
            aria-current={search.view === view ? 'true' : undefined}
            onClick={() => onChange({ view })}
            className={clsx(
              'flex h-6 items-center rounded-sm px-2 text-sm font-medium pointer-coarse:h-8',
              search.view === view
                ? 'bg-raised text-ink shadow-[0_1px_2px_var(--shade)]'
                : 'text-ink-soft hover:text-ink',
            )}
          >
            {view === undefined ? 'Table' : 'Heat map'}
          </button>
        ))}
      </nav>
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

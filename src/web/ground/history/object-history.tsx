/** The history of one object: a section of its page, and an item of its menu in a list. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { History } from 'lucide-react'
import type { HistoryKind } from '../../../contract/history.ts'
import { listHistory } from '../../../people/history/api.ts'
import { ask } from '../call.ts'
import { Loaded, Section } from '../ui/page.tsx'
import { MenuItem } from '../ui/menu.tsx'
import { Changes } from './changes.tsx'

type Of = { kind: HistoryKind; id: string }

/** Few enough to keep the page short. */
const SHOWN = 5

/** The newest changes of the object, with a link to all of them. */
export function ObjectHistory({ kind, id }: Of) {
  const changes = useQuery(ask(listHistory, { query: { kind, id, limit: SHOWN } }))
  return (
    <Section
      title="History"
      aside={
        <Link to="/history" search={{ kind, id }} className="text-accent hover:underline">
          All changes
        </Link>
      }
    >
      <Loaded query={changes} what="history">
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-ink-soft">No change was recorded yet.</p>
          ) : (
            <Changes rows={data} isOfOne />
          )
        }
      </Loaded>
    </Section>
  )
}

export function HistoryItem({ kind, id }: Of) {
  const navigate = useNavigate()
  return (
    <MenuItem icon={History} onSelect={() => void navigate({ to: '/history', search: { kind, id } })}>
      History
    </MenuItem>
  )
}

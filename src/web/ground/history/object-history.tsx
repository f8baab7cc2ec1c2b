/** The history of one object: a section of its page, and an item of its menu in a list. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { History } from 'lucide-react'
import type { ReactNode } from 'react'
import type { HistoryKind } from '../../../contract/history.ts'
import { listHistory } from '../../../people/history/api.ts'
import { ask } from '../call.ts'
import { Loaded, Section } from '../ui/page.tsx'
import { MenuItem } from '../ui/menu.tsx'
import { Changes } from './changes.tsx'

type Of = { kind: HistoryKind; id: string }
type Sought = Of | { actor: string }

/** Few enough to keep the page short. */
const SHOWN = 5

/** The newest changes of an object, with a link to all of them. */
export const ObjectHistory = ({ kind, id }: Of) => <NewestChanges title="History" of={{ kind, id }} />

/** The newest changes that a person or a key made, with what can be done about them. */
export const ChangesBy = ({ actor, children }: { actor: string; children?: ReactNode }) => (
  <NewestChanges title="What it changed" of={{ actor }} deeds={children} />
)

function NewestChanges({ title, of, deeds }: { title: string; of: Sought; deeds?: ReactNode }) {
  const changes = useQuery(ask(listHistory, { query: { ...of, limit: SHOWN } }))
  return (
    <Section
      title={title}
      aside={
        <span className="flex items-center gap-3">
          {deeds}
          <Link to="/history" search={of} className="text-accent hover:underline">
            All changes
          </Link>
        </span>
      }
    >
      <Loaded query={changes} what="history">
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-ink-soft">No change was recorded yet.</p>
          ) : (
            <Changes rows={data} isOfOne={'id' in of} />
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

/** The status of a click flow, and the deeds that change it. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Archive, Ellipsis, Pause, Play, Trash2 } from 'lucide-react'
import type { z } from 'zod'
import {
  deleteClickFlow,
  type FlowStatus,
  type ListedFlow,
  listClickFlows,
  listClickFlowVersions,
  readClickFlow,
  setClickFlowStatus,
} from '../../click-flows/api.ts'
import { call } from '../call.ts'
import { inWords } from '../feed/rungs.ts'
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { IconButton } from '../ui/button.tsx'
import { useConfirm } from '../ui/confirm.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { notify } from '../ui/toast.tsx'

type FlowRow = z.input<typeof ListedFlow>

const TONES: Record<FlowStatus, Tone> = { draft: 'accent', active: 'good', paused: 'warn', archived: 'plain' }

export function StatusBadge({ status }: { status: FlowStatus }) {
  return <Badge tone={TONES[status]}>{inWords(status)}</Badge>
}

/** Everything that shows flows is read anew. */
export function useFlowsChanged(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () =>
    Promise.all(
      [listClickFlows, readClickFlow, listClickFlowVersions].map(({ route }) =>
        queries.invalidateQueries({ queryKey: [route] }),
      ),
    )
}

/** Whose visitors a deed reaches, as the end of a sentence. */
export function reachOf({ campaigns }: Pick<FlowRow, 'campaigns'>): string {
  if (campaigns.length === 0) return 'No campaign leads to it.'
  return `Campaigns that lead to it: ${campaigns.map(({ name }) => name).join(', ')}.`
}

export function FlowMenu({ flow, onGone }: { flow: FlowRow; onGone?: () => void }) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { role } = useActive()
  const changed = useFlowsChanged()
  const reason = reasonAgainst(setClickFlowStatus, role)
  const turn = (status: 'active' | 'paused' | 'archived', action: string, words: string, news: string) =>
    confirm({
      title: `${action} ${flow.name}?`,
      words: `${words} ${reachOf(flow)}`,
      action,
      look: 'primary',
      deed: async () => {
        await call(setClickFlowStatus, { params: { id: flow.id }, body: { status } })
        await changed()
        notify(`${flow.name} ${news}`)
      },
    })
  const remove = () =>
    confirm({
      title: `Delete ${flow.name}?`,
      words: `Visitors of its campaigns go to the fallback from then on. ${reachOf(flow)}`,
      action: 'Delete click flow',
      deed: async () => {
        await call(deleteClickFlow, { params: { id: flow.id } })
        if (onGone !== undefined) await navigate({ to: '/click-flows' })
        await changed()
        notify(`${flow.name} is deleted`)
      },
    })
  const off = 'Visitors go to the fallback of their campaign at once.'
  return (
    <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${flow.name}`} size="sm" />}>
      {flow.status !== 'active' && flow.published_version !== null && (
        <MenuItem
          icon={Play}
          reason={reason}
          onSelect={() =>
            turn('active', 'Set active', `Version ${flow.published_version} takes traffic again.`, 'is active again')
          }
        >
          Set active
        </MenuItem>
      )}
      {flow.status !== 'paused' && (
        <MenuItem icon={Pause} reason={reason} onSelect={() => turn('paused', 'Pause', off, 'is paused')}>
          Pause
        </MenuItem>
      )}
      {flow.status !== 'archived' && (
        <MenuItem icon={Archive} reason={reason} onSelect={() => turn('archived', 'Archive', off, 'is archived')}>
          Archive
        </MenuItem>
      )}
      <MenuLine />
      <MenuItem icon={Trash2} danger reason={reasonAgainst(deleteClickFlow, role)} onSelect={remove}>
        Delete
      </MenuItem>
    </Menu>
  )
}

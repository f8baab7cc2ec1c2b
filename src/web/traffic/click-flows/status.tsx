/** The status of a click flow, and the menu items that change it. */
import { useNavigate } from '@tanstack/react-router'
import { Archive, Pause, Play } from 'lucide-react'
import type { z } from 'zod'
import {
  createClickFlow,
  deleteClickFlow,
  type FlowStatus,
  type ListedFlow,
  listClickFlows,
  listClickFlowVersions,
  readClickFlow,
  setClickFlowStatus,
} from '../../../traffic/click-flows/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { inWords } from '../../ground/rungs.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'
import { CloneItem } from '../../ground/ui/clone.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'

type ListedFlowRow = z.input<typeof ListedFlow>

const TONES: Record<FlowStatus, Tone> = { draft: 'accent', active: 'good', paused: 'warn', archived: 'plain' }

export function FlowStatusBadge({ status }: { status: FlowStatus }) {
  return <Badge tone={TONES[status]}>{inWords(status)}</Badge>
}

/** The endpoints that show click flows. */
export const SHOW_FLOWS = [listClickFlows, readClickFlow, listClickFlowVersions]

/** A sentence that names the campaigns which lead to the flow. */
export function flowReach({ campaigns }: Pick<ListedFlowRow, 'campaigns'>): string {
  if (campaigns.length === 0) return 'No campaign leads to it.'
  return `Campaigns that lead to it: ${campaigns.map(({ name }) => name).join(', ')}.`
}

export function FlowMenu({ flow, isOnItsPage = false }: { flow: ListedFlowRow; isOnItsPage?: boolean }) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { role } = useActive()
  const reason = reasonAgainst(setClickFlowStatus, role)
  const confirmStatus = (status: 'active' | 'paused' | 'archived', action: string, words: string, news: string) =>
    confirm({
      title: `${action} ${flow.name}?`,
      words: `${words} ${flowReach(flow)}`,
      action,
      look: 'primary',
      deed: () => call(setClickFlowStatus, { params: { id: flow.id }, body: { status } }),
      refresh: SHOW_FLOWS,
      news: `${flow.name} ${news}`,
    })
  const consequence = 'Visitors go to the fallback of their campaign at once.'
  return (
    <RowMenu name={flow.name}>
      <CloneItem id={flow.id} endpoint={createClickFlow} to={isOnItsPage ? '/click-flows' : undefined} />
      {flow.status !== 'active' && flow.published_version !== null && (
        <MenuItem
          icon={Play}
          reason={reason}
          onSelect={() =>
            confirmStatus(
              'active',
              'Set active',
              `Version ${flow.published_version} takes traffic again.`,
              'is active again',
            )
          }
        >
          Set active
        </MenuItem>
      )}
      {flow.status !== 'paused' && (
        <MenuItem
          icon={Pause}
          reason={reason}
          onSelect={() => confirmStatus('paused', 'Pause', consequence, 'is paused')}
        >
          Pause
        </MenuItem>
      )}
      {flow.status !== 'archived' && (
        <MenuItem
          icon={Archive}
          reason={reason}
          onSelect={() => confirmStatus('archived', 'Archive', consequence, 'is archived')}
        >
          Archive
        </MenuItem>
      )}
      <MenuLine />
      <DeleteItem
        name={flow.name}
        what="click flow"
        endpoint={deleteClickFlow}
        refresh={SHOW_FLOWS}
        words={`Visitors of its campaigns go to the fallback. ${flowReach(flow)} This cannot be undone.`}
        deed={async () => {
          const deleted = await call(deleteClickFlow, { params: { id: flow.id } })
          if (isOnItsPage) await navigate({ to: '/click-flows' })
          return deleted
        }}
      />
    </RowMenu>
  )
}

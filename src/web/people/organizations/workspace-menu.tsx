/** The menu that shows the active workspace, switches to another and creates a new one. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { ChevronsUpDown, Plus } from 'lucide-react'
import { useState } from 'react'
import { activateOrganization, restoreOrganization } from '../../../people/organizations/api.ts'
import { useActive, useOrganizations, type Workspace } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { CreateWorkspace } from './create-workspace.tsx'

export function useSwitch() {
  const queries = useQueryClient()
  const router = useRouter()
  return useMutation({
    mutationFn: (id: string) => call(activateOrganization, { params: { id } }),
    // The screen and the ids in its address belong to the previous workspace.
    onSuccess: async () => {
      await router.navigate({ to: '/' })
      await queries.resetQueries()
    },
    onError: refused => notify('The workspace was not switched', refused.message),
  })
}

export function WorkspaceMenu() {
  const organizations = useOrganizations()
  const active = useActive()
  const [creating, setCreating] = useState(false)
  const change = useSwitch()
  const confirm = useConfirm()
  const restore = ({ id, name }: Workspace) =>
    confirm({
      title: `Restore ${name}?`,
      words: 'It is deleted. Restoring brings it back as it was, and you switch to it.',
      action: 'Restore and switch',
      look: 'primary',
      deed: async () => {
        await call(restoreOrganization, { params: { id } })
        await change.mutateAsync(id)
      },
    })
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            aria-label={`Workspace: ${active.name}`}
            className="flex h-9 w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-left hover:border-line-strong data-popup-open:border-line-strong pointer-coarse:h-11"
          >
            <span className="min-w-0 flex-1 truncate font-medium">{active.name}</span>
            <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
          </button>
        }
      >
        <MenuChoice
          label="Workspaces"
          value={active.id}
          onChange={id => {
            const chosen = organizations.find(one => one.id === id)
            if (chosen?.deleted_at == null) change.mutate(id)
            else restore(chosen)
          }}
          options={organizations.map(one => ({
            value: one.id,
            label: one.deleted_at === null ? one.name : `${one.name} (deleted)`,
          }))}
        />
        <MenuLine />
        <MenuItem icon={Plus} onSelect={() => setCreating(true)}>
          New workspace
        </MenuItem>
      </Menu>
      <CreateWorkspace open={creating} onClose={() => setCreating(false)} />
    </>
  )
}

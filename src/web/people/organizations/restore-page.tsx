/** The pages shown in place of the dashboard when the workspace is deleted, or when the person has none. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { restoreOrganization } from '../../../people/organizations/api.ts'
import { onlyFor, useOrganizations, type Workspace } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { PageHeader } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door } from '../accounts/door.tsx'
import { PersonMenu } from '../accounts/person-menu.tsx'
import { CreateWorkspace } from './create-workspace.tsx'
import { useSwitch } from './workspace-menu.tsx'

export function DeletedWorkspace({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient()
  const restore = useMutation({
    mutationFn: () => call(restoreOrganization, { params: { id: workspace.id } }),
    onSuccess: () => queries.resetQueries(),
  })
  return (
    <div className="max-w-2xl">
      <PageHeader
        title={`${workspace.name} is deleted`}
        words={
          workspace.deleted_at === null
            ? undefined
            : `Deleted ${moment(workspace.deleted_at)}. Its data is kept. Until it is restored, calls with its API keys are refused (409 org_deleted).`
        }
      />
      <RefusalNote refused={restore.error} className="mb-3" />
      <Button
        look="primary"
        icon={Undo2}
        onClick={() => restore.mutate()}
        pending={restore.isPending}
        reason={workspace.role === 'owner' ? undefined : onlyFor('owner', workspace.role)}
      >
        Restore the workspace
      </Button>
    </div>
  )
}

export function NoWorkspace() {
  const organizations = useOrganizations()
  const [creating, setCreating] = useState(false)
  const change = useSwitch()
  const live = organizations.filter(one => one.deleted_at === null)
  return (
    <Door
      title={live.length > 0 ? 'Choose a workspace' : 'You are in no workspace'}
      words={
        live.length > 0
          ? 'You no longer have access to the one you used last.'
          : 'Create one, or ask an owner or admin for an invitation to your address.'
      }
    >
      <div className="flex flex-col gap-2">
        {live.map(one => (
          <Button key={one.id} onClick={() => change.mutate(one.id)}>
            {one.name}
          </Button>
        ))}
        <Button look={live.length > 0 ? 'quiet' : 'primary'} onClick={() => setCreating(true)}>
          New workspace
        </Button>
        <RefusalNote refused={change.error} />
        <div className="mt-6 border-t border-line pt-2">
          <PersonMenu />
        </div>
      </div>
      <CreateWorkspace open={creating} onClose={() => setCreating(false)} />
    </Door>
  )
}

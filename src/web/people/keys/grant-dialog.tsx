/** The grant editor: the key's workspace, campaigns and rights. Each save replaces all of them. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Right, TIERS } from '../../../contract/rights.ts'
import { readGrant, saveGrant } from '../../../people/keys/api.ts'
import { useActive, useOrganizations } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { SelectField } from '../../ground/ui/field.tsx'
import { Waiting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { CampaignPicker } from './campaign-picker.tsx'
import { SHOW_KEYS } from './deeds.tsx'
import {
  type GrantChoice,
  type GrantDifference,
  difference,
  grantDraftOf,
  type HeldGrant,
  heldRights,
  obstacle,
  GRANT_PRESETS,
  stopsConversions,
} from './grant-choice.ts'
import { RightsFieldset } from './rights-fieldset.tsx'
import { Slugs, TypedDelete } from './typed-delete.tsx'
import type { KeyRow } from './states.tsx'

export function GrantDialog({ apiKey, open, onClose }: { apiKey: KeyRow; open: boolean; onClose: () => void }) {
  const grant = useQuery({ ...ask(readGrant, { params: { id: apiKey.id } }), enabled: open })
  return (
    <Dialog
      open={open}
      onClose={onClose}
      width="wide"
      title={`Permissions of ${apiKey.name}`}
      description="Saving replaces all permissions of the key with the ticked ones, from its next call on."
    >
      {grant.data !== undefined ? (
        <GrantForm apiKey={apiKey} held={grant.data} onClose={onClose} />
      ) : (
        <DialogBody>
          {grant.error === null ? <Waiting className="h-72" /> : <RefusalNote refused={grant.error} />}
        </DialogBody>
      )}
    </Dialog>
  )
}

function GrantForm({ apiKey, held, onClose }: { apiKey: KeyRow; held: HeldGrant; onClose: () => void }) {
  const refresh = useRefresh()
  const workspaces = useGrantableWorkspaces()
  const [choice, setChoice] = useState<GrantChoice>(() => ({
    organization_id:
      held.state === 'fresh'
        ? workspaces.grantable.length === 1
          ? (workspaces.grantable[0]?.id ?? '')
          : ''
        : (held.organization?.id ?? ''),
    // A fresh key in use reports conversions by the exemption. `events` is ticked so that the first save does not stop it by accident.
    rights: held.state === 'fresh' && apiKey.last_used_at !== null ? new Set<Right>(['events']) : heldRights(held),
    campaigns: held.campaigns ?? undefined,
  }))
  const [typed, setTyped] = useState('')
  const change = difference(held, choice)
  const save = useMutation({
    mutationFn: () => call(saveGrant, { params: { id: apiKey.id }, body: grantDraftOf(choice, typed) }),
    onSuccess: async () => {
      await refresh(...SHOW_KEYS)
      onClose()
      notify(`The permissions of ${apiKey.name} are saved`, 'They apply from its next call.')
    },
  })
  const tick = (rights: readonly Right[], on: boolean) => {
    const next = new Set(choice.rights)
    for (const right of rights) {
      if (on) next.add(right)
      else next.delete(right)
    }
    setChoice({ ...choice, rights: next })
  }
  const reason = obstacle(choice, change, typed)
  return (
    <DialogForm
      onSubmit={() => {
        if (reason === undefined && !save.isPending) save.mutate()
      }}
    >
      <DialogBody className="gap-5">
        <WorkspaceChoice
          held={held}
          choice={choice}
          workspaces={workspaces}
          onChoose={organization_id => setChoice({ ...choice, organization_id, campaigns: undefined })}
        />
        <CampaignPicker
          chosen={choice.campaigns}
          onChoose={campaigns => setChoice({ ...choice, campaigns })}
          reason={
            choice.organization_id === workspaces.active
              ? undefined
              : 'You can search campaigns only in the active workspace: switch to the chosen one first.'
          }
        />
        <div className="flex flex-col gap-3">
          <fieldset aria-label="Presets" className="flex flex-wrap items-center gap-1.5">
            <span className="mr-1 text-sm text-ink-faint">Start from</span>
            {GRANT_PRESETS.map(({ name, rights }) => (
              <Button key={name} size="sm" onClick={() => setChoice({ ...choice, rights: new Set(rights) })}>
                {name}
              </Button>
            ))}
          </fieldset>
          {TIERS.map(tier => (
            <RightsFieldset key={tier} tier={tier} choice={choice} onTick={tick} />
          ))}
        </div>
      </DialogBody>
      <div className="flex max-h-[45dvh] shrink-0 flex-col gap-2 overflow-y-auto border-line has-[strong,p,span]:border-t has-[strong,p,span]:px-5 has-[strong,p,span]:py-3">
        <Consequences held={held} choice={choice} change={change} />
        {change.addedDeletes.length > 0 && <TypedDelete rights={change.addedDeletes} typed={typed} onType={setTyped} />}
        <RefusalNote refused={save.error} />
      </div>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={save.isPending} reason={reason}>
          Save permissions
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

/** All workspaces of the person, and those in which they may grant: the ones they own or administer. */
function useGrantableWorkspaces() {
  const all = useOrganizations()
  const active = useActive().id
  return { all, active, grantable: all.filter(one => one.role !== 'member' && one.deleted_at === null) }
}

type WorkspaceChoiceProps = {
  held: HeldGrant
  choice: GrantChoice
  workspaces: ReturnType<typeof useGrantableWorkspaces>
  onChoose: (id: string) => void
}

function WorkspaceChoice({ held, choice, workspaces, onChoose }: WorkspaceChoiceProps) {
  const moves =
    held.organization !== null && choice.organization_id !== '' && held.organization.id !== choice.organization_id
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label="Workspace"
        required
        hint="The key works only in this workspace, and only while you are its owner or admin."
        value={choice.organization_id}
        onChange={event => onChoose(event.target.value)}
      >
        <option value="" disabled>
          Choose a workspace
        </option>
        {workspaces.all.map(one => (
          <option key={one.id} value={one.id} disabled={!workspaces.grantable.includes(one)}>
            {one.name}
            {one.deleted_at === null ? (one.role === 'member' ? ' (you are only a member)' : '') : ' (deleted)'}
          </option>
        ))}
      </SelectField>
      {moves && (
        <Note kind="warning">
          The key has acted in <strong>{held.organization?.name}</strong> until now. After saving, its conversions go to
          the workspace chosen here.
        </Note>
      )}
    </div>
  )
}

function Consequences({ held, choice, change }: { held: HeldGrant; choice: GrantChoice; change: GrantDifference }) {
  return (
    <div aria-live="polite" className="flex flex-col gap-2">
      {change.blocked.length > 0 && (
        <Note>
          Not granted, because these rights cannot be limited to campaigns: <Slugs rights={change.blocked} />
        </Note>
      )}
      {stopsConversions(held, choice) && (
        <Note kind="warning">
          <strong>This integration will stop reporting conversions</strong>:{' '}
          <code className="font-mono text-sm">events</code> is not ticked, so POST /api/events answers 403 from the next
          call on.
        </Note>
      )}
      {held.state !== 'fresh' && (change.added.length > 0 || change.removed.length > 0) && (
        <p className="text-ink-soft">
          {change.added.length > 0 && (
            <>
              Adds <Slugs rights={change.added} />.{' '}
            </>
          )}
          {change.removed.length > 0 && (
            <>
              Removes <Slugs rights={change.removed} />.
            </>
          )}
        </p>
      )}
    </div>
  )
}

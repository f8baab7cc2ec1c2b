/** Disabling, enabling and revoking a key, and setting its expiry. The list's menus and the key's page share one hook. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { listKeys, readGrant, revokeGrant, revokeKey, updateKey } from '../../../people/keys/api.ts'
import { call } from '../../ground/call.ts'
import { ago, moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import type { KeyRow } from './states.tsx'

/** The endpoints that show keys and their permissions. */
export const SHOW_KEYS = [listKeys, readGrant]

export function useKeyDeeds(key: KeyRow) {
  const confirm = useConfirm()
  const params = { id: key.id }
  return {
    disable: () =>
      confirm({
        title: `Disable ${key.name}?`,
        words: 'Its calls answer 401 at once. You can enable it again at any time.',
        action: 'Disable key',
        look: 'primary',
        deed: () => call(updateKey, { params, body: { enabled: false } }),
        refresh: SHOW_KEYS,
        news: `${key.name} is disabled`,
      }),
    enable: () =>
      confirm({
        title: `Enable ${key.name}?`,
        words: 'It works again with the permissions it has.',
        action: 'Enable key',
        look: 'primary',
        deed: () => call(updateKey, { params, body: { enabled: true } }),
        refresh: SHOW_KEYS,
        news: `${key.name} is enabled`,
      }),
    askFirst: () =>
      confirm({
        title: `Make ${key.name} ask first?`,
        words: (
          <>
            A tool call of an AI host that changes live traffic, deletes or sends data out is then refused until the
            host has tried it: the trial says what would happen, and its confirmation is good for that one call, for
            five minutes. This concerns tools only: <strong>HTTP calls with this key do not ask</strong>.
          </>
        ),
        action: 'Ask first',
        look: 'primary',
        deed: () => call(updateKey, { params, body: { ask_first: true } }),
        refresh: SHOW_KEYS,
        news: `${key.name} asks first`,
      }),
    askNoMore: () =>
      confirm({
        title: `Stop ${key.name} from asking first?`,
        words: 'Its tool calls then take effect at once, without a trial.',
        action: 'Stop asking',
        look: 'primary',
        deed: () => call(updateKey, { params, body: { ask_first: false } }),
        refresh: SHOW_KEYS,
        news: `${key.name} no longer asks first`,
      }),
    revoke: () =>
      confirm({
        title: `Revoke ${key.name}?`,
        words: (
          <>
            <p>
              <strong>This takes effect immediately and cannot be undone.</strong> The next call with this key answers
              401.
            </p>
            <p className="mt-2">
              {key.last_used_at === null ? 'It has never been used.' : `It was last used ${ago(key.last_used_at)}.`} To
              replace a key that is in use: create a new one, swap it into the integration, check that conversions
              arrive, and only then revoke the old one.
            </p>
          </>
        ),
        action: 'Revoke key',
        deed: () => call(revokeKey, { params }),
        refresh: SHOW_KEYS,
        news: `${key.name} is revoked`,
      }),
    emptyPermissions: () =>
      confirm({
        title: `Revoke all permissions of ${key.name}?`,
        words: (
          <>
            The key keeps its workspace and loses every right at once, <strong>including reporting conversions</strong>.
            You can grant rights again at any time.
          </>
        ),
        action: 'Revoke all permissions',
        deed: () => call(revokeGrant, { params }),
        refresh: SHOW_KEYS,
        news: `${key.name} holds no permissions`,
      }),
  }
}

/** Sets or clears the moment a key stops being accepted. */
export function ExpiryDialog({ apiKey, open, onClose }: { apiKey: KeyRow; open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Expiry of ${apiKey.name}`}
      description="Every call after this moment answers 401. You can change or clear the expiry later."
    >
      <ExpiryForm apiKey={apiKey} onClose={onClose} />
    </Dialog>
  )
}

function ExpiryForm({ apiKey, onClose }: { apiKey: KeyRow; onClose: () => void }) {
  const refresh = useRefresh()
  const [until, setUntil] = useState(apiKey.expires_at?.slice(0, 16) ?? '')
  const save = useMutation({
    mutationFn: (expires_at: string | null) => call(updateKey, { params: { id: apiKey.id }, body: { expires_at } }),
    onSuccess: async saved => {
      await refresh(...SHOW_KEYS)
      onClose()
      notify(
        saved.expires_at === null
          ? `${apiKey.name} does not expire`
          : `${apiKey.name} expires ${moment(saved.expires_at)}`,
      )
    },
  })
  return (
    <DialogForm
      onSubmit={() => {
        save.mutate(until === '' ? null : `${until}:00Z`)
      }}
    >
      <DialogBody>
        <TextField
          type="datetime-local"
          label="Accepted until (UTC)"
          hint={until === '' ? 'Leave blank for no expiry.' : `That is ${moment(`${until}:00Z`)}.`}
          value={until}
          onChange={event => setUntil(event.target.value)}
        />
        <RefusalNote refused={save.error} />
      </DialogBody>
      <DialogFoot>
        {apiKey.expires_at !== null && (
          <Button look="quiet" onClick={() => save.mutate(null)}>
            Never expire
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={save.isPending}>
          Save expiry
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

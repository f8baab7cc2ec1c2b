/** The dialog that creates a key: it asks for a name, then shows the secret once. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import { createKey, KeyDraft } from '../../../people/keys/api.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { SHOW_KEYS } from './deeds.tsx'

type Created = { id: string; name: string; secret: string }

export function CreateKey({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Created>()
  const close = () => {
    onClose()
    setCreated(undefined)
  }
  return created === undefined ? (
    <Dialog
      open={open}
      onClose={close}
      title="Create API key"
      description="Use one key per integration, so that you can replace each on its own."
    >
      <NameForm onCreated={setCreated} onClose={close} />
    </Dialog>
  ) : (
    <Dialog open={open} onClose={close} firm title={`The secret of ${created.name}`}>
      <Secret created={created} onClose={close} />
    </Dialog>
  )
}

function NameForm({ onCreated, onClose }: { onCreated: (created: Created) => void; onClose: () => void }) {
  const refresh = useRefresh()
  const form = useDraft(KeyDraft, { name: '' })
  const create = useMutation({
    mutationFn: (body: z.input<typeof KeyDraft>) => call(createKey, { body }),
    // The secret must not stay in the cache of mutations.
    gcTime: 0,
    onSuccess: async created => {
      onCreated(created)
      await refresh(...SHOW_KEYS)
    },
  })
  return (
    <DialogForm onSubmit={submits(form, draft => create.mutate(draft))}>
      <DialogBody>
        <TextField
          label="Name"
          hint="What will use it, for example “CRM postbacks”."
          autoComplete="off"
          error={form.formState.errors.name?.message}
          {...form.register('name')}
        />
        <RefusalNote refused={create.error} />
      </DialogBody>
      <SaveFoot action="Create key" pending={create.isPending} onCancel={onClose} />
    </DialogForm>
  )
}

function Secret({ created, onClose }: { created: Created; onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <>
      <DialogBody>
        <Note kind="warning">
          <strong>Copy it now. It is never shown again</strong>, and it cannot be changed. Anyone who has it can use the
          key: keep it out of browsers, repositories and chats.
        </Note>
        <div className="flex flex-col gap-2">
          <TextField
            label="Secret"
            value={created.secret}
            readOnly
            onFocus={event => event.target.select()}
            className="[&_input]:font-mono"
            spellCheck={false}
          />
          <CopyButton text={created.secret} label="Copy secret" look="primary" size="md" />
        </div>
        <p className="text-ink-soft">
          Until you save its permissions, the key may only report conversions over HTTP, and it acts in the workspace
          you joined first.
        </p>
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Done</Button>
        <Button
          onClick={() => {
            onClose()
            void navigate({ to: '/settings/api-keys/$id', params: { id: created.id }, search: { grant: true } })
          }}
        >
          Grant permissions
        </Button>
      </DialogFoot>
    </>
  )
}

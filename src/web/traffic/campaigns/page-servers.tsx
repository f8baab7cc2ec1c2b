/** The servers that report visits of a campaign's pages. A secret is shown once, when its server is added. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { createPageServer, deletePageServer, listPageServers } from '../../../intake/pages/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'

type Created = z.input<typeof createPageServer.reply>

export function PageServers({ id }: { id: string }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const servers = useQuery(ask(listPageServers, { params: { id } }))
  const [isAdding, setAdding] = useState(false)
  return (
    <section aria-label="Page servers">
      <div className="mb-2 flex items-center justify-between gap-3">
        <h3 className="font-medium">Page servers</h3>
        <Button size="sm" reason={reasonAgainst(createPageServer, role)} onClick={() => setAdding(true)}>
          Add page server
        </Button>
      </div>
      <p className="mb-2 text-ink-soft">For pages that a server renders: it reports their visitors with a secret.</p>
      <Loaded query={servers} what="page servers">
        {({ data }) => (
          <ul className="flex flex-col divide-y divide-line">
            {data.map(({ id: server_id, name, created_at }) => (
              <li key={server_id} className="flex items-center justify-between gap-3 py-2">
                <span className="min-w-0 truncate">
                  {name} <span className="text-sm text-ink-faint">since {moment(created_at)}</span>
                </span>
                <Button
                  size="sm"
                  look="danger"
                  reason={reasonAgainst(deletePageServer, role)}
                  onClick={() =>
                    confirm({
                      title: `Remove ${name}?`,
                      words: 'Its secret stops working at once, and visits that it reports are refused.',
                      action: 'Remove page server',
                      look: 'danger',
                      deed: () => call(deletePageServer, { params: { id, server_id } }),
                      refresh: [listPageServers],
                      news: `${name} is removed`,
                    })
                  }
                >
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <AddServer id={id} open={isAdding} onClose={() => setAdding(false)} />
    </section>
  )
}

function AddServer({ id, open, onClose }: { id: string; open: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Created>()
  const close = () => {
    onClose()
    setCreated(undefined)
  }
  return created === undefined ? (
    <Dialog open={open} onClose={close} title="Add page server">
      <NameForm id={id} onCreated={setCreated} onClose={close} />
    </Dialog>
  ) : (
    <Dialog open={open} onClose={close} firm title={`The secret of ${created.name}`}>
      <DialogBody>
        <Note kind="warning">
          <strong>Copy it now. It is never shown again.</strong> Anyone who has it can report visits in your visitors’
          names.
        </Note>
        <TextField
          label="Secret"
          value={created.secret}
          readOnly
          onFocus={event => event.target.select()}
          className="[&_input]:font-mono"
          spellCheck={false}
        />
        <CopyButton text={created.secret} label="Copy secret" look="primary" size="md" />
      </DialogBody>
      <DialogFoot>
        <Button onClick={close}>Done</Button>
      </DialogFoot>
    </Dialog>
  )
}

type NameFormProps = { id: string; onCreated: (created: Created) => void; onClose: () => void }

function NameForm({ id, onCreated, onClose }: NameFormProps) {
  const refresh = useRefresh()
  const form = useDraft(createPageServer.body, { name: '' })
  const create = useMutation({
    mutationFn: (body: z.input<typeof createPageServer.body>) => call(createPageServer, { params: { id }, body }),
    // The secret must not stay in the cache of mutations.
    gcTime: 0,
    onSuccess: async made => {
      onCreated(made)
      await refresh(listPageServers)
    },
  })
  return (
    <DialogForm onSubmit={submits(form, draft => create.mutate(draft))}>
      <DialogBody>
        <TextField
          label="Name"
          hint="Such as “PHP shop”."
          autoComplete="off"
          error={form.formState.errors.name?.message}
          {...form.register('name')}
        />
        <RefusalNote refused={create.error} />
      </DialogBody>
      <SaveFoot action="Add page server" pending={create.isPending} onCancel={onClose} />
    </DialogForm>
  )
}

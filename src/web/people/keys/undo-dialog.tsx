/** Putting back what a key changed since a moment, in one act. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { type HistoryRow, listHistory, undoKey } from '../../../people/history/api.ts'
import { ask, call } from '../../ground/call.ts'
import { exactMoment, moment } from '../../ground/figures/figures.ts'
import { REASONS } from '../../ground/history/changes.tsx'
import { kindInWords } from '../../ground/history/words.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import type { KeyRow } from './states.tsx'

type Change = z.input<typeof HistoryRow>

const HOUR_MS = 3_600_000
/** A page of the list. More changes are put back as well, but cannot be left out here. */
const SHOWN = 200

/** The button, which opens the dialog. `reason` is why the person may not. */
export function UndoButton({ apiKey, reason }: { apiKey: KeyRow; reason: string | undefined }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button size="sm" reason={reason} onClick={() => setOpen(true)}>
        Put back…
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Put back what ${apiKey.name} changed`}
        description="Every object gets the values it had before, newest change first: all or none, except what you leave out."
      >
        <UndoForm apiKey={apiKey} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

/** Such as “Offer changed: url, payout, 26 Nov, 09:59:06”. */
const whatChanged = ({ kind, change, fields, created_at }: Change): string => {
  const names = change === 'changed' ? `: ${fields.map(({ name }) => name.replaceAll('_', ' ')).join(', ')}` : ''
  return `${kindInWords(kind)} ${change}${names}, ${exactMoment(created_at)}`
}

function UndoForm({ apiKey, onClose }: { apiKey: KeyRow; onClose: () => void }) {
  const client = useQueryClient()
  const [from, setFrom] = useState(() => new Date(Date.now() - HOUR_MS).toISOString().slice(0, 16))
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const since = from === '' ? undefined : `${from}:00Z`
  const changes = useQuery({
    ...ask(listHistory, { query: { actor: apiKey.id, from: since, limit: SHOWN } }),
    placeholderData: keepPreviousData,
    enabled: since !== undefined,
  })
  const rows = (changes.data?.data ?? []).filter(row => row.undone_by_id === null)
  const stays = (row: Change) => row.cannot_undo === 'cannot_undo' || left.has(row.id)
  const undo = useMutation({
    mutationFn: () => {
      const leave_out = rows.filter(stays).map(({ id }) => id)
      return call(undoKey, { params: { id: apiKey.id }, body: { since: since ?? '', leave_out } })
    },
    onSuccess: async ({ data }) => {
      await client.invalidateQueries()
      onClose()
      notify(data.length === 1 ? 'One change is put back' : `${data.length} changes are put back`)
    },
  })
  const tick = (id: string, on: boolean) => {
    const next = new Set(left)
    if (on) next.delete(id)
    else next.add(id)
    setLeft(next)
  }
  return (
    <DialogForm onSubmit={() => undo.mutate()}>
      <DialogBody>
        <TextField
          type="datetime-local"
          label="Changes since (UTC)"
          required
          hint={since === undefined ? undefined : `That is ${moment(since)}.`}
          value={from}
          onChange={event => setFrom(event.target.value)}
        />
        <Loaded query={changes} what="changes">
          {({ next_cursor }) =>
            rows.length === 0 ? (
              <p className="text-ink-soft">The key has changed nothing since then, or all of it was put back.</p>
            ) : (
              <fieldset aria-label="Changes to put back" className="flex max-h-80 flex-col gap-3 overflow-y-auto">
                {rows.map(row => (
                  <Checkbox
                    key={row.id}
                    label={row.object_name === '' ? kindInWords(row.kind) : row.object_name}
                    words={whatChanged(row)}
                    reason={row.cannot_undo === 'cannot_undo' ? REASONS.cannot_undo : undefined}
                    checked={!stays(row)}
                    onChange={event => tick(row.id, event.target.checked)}
                  />
                ))}
                {next_cursor !== null && (
                  <p className="text-ink-soft">Older changes since then are put back as well.</p>
                )}
              </fieldset>
            )
          }
        </Loaded>
        <RefusalNote refused={undo.error} />
      </DialogBody>
      <SaveFoot
        action="Put back"
        pending={undo.isPending}
        reason={rows.every(stays) ? 'Choose at least one change.' : undefined}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

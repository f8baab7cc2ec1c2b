/** Saying the same of many conversions, or what a file says of each: looked through first, then done. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { EVENT_STATUSES, type EventStatus } from '../../../contract/revisions.ts'
import { listEvents } from '../../../intake/events/api.ts'
import { importRevisions, MOST_LINES } from '../../../intake/revisions/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { count, money } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { SelectField, TextArea, TextField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { wordOf } from './standing.tsx'

type Query = NonNullable<z.input<NonNullable<(typeof listEvents)['query']>>>
type Looked = z.input<(typeof importRevisions)['reply']>

type BulkProps = { open: boolean; onClose: () => void; query: Query }

export function BulkDialog({ open, onClose, query }: BulkProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Approve or reject many"
      description={`Up to ${count(MOST_LINES)} at once. You see what becomes of them before anything changes.`}
      width="wide"
    >
      <BulkForm onClose={onClose} query={query} />
    </Dialog>
  )
}

const PAGE = 200

/** The conversions that the filters show, newest first, as a file of one status. */
async function fileOf(query: Query, status: EventStatus, reason: string): Promise<string> {
  const ids: string[] = []
  for (let cursor: string | undefined; ids.length < MOST_LINES; ) {
    const { data, next_cursor } = await call(listEvents, { query: { ...query, limit: PAGE, cursor } })
    ids.push(...data.map(({ id }) => id))
    if (next_cursor === null) break
    cursor = next_cursor
  }
  const said = `${status},"${reason.replaceAll('"', '""')}"`
  return ['event_id,status,reason', ...ids.slice(0, MOST_LINES).map(id => `${id},${said}`)].join('\n')
}

function BulkForm({ onClose, query }: Omit<BulkProps, 'open'>) {
  const { role } = useActive()
  const again = useRefresh()
  const [status, setStatus] = useState<EventStatus>('rejected')
  const [reason, setReason] = useState('')
  const [file, setFile] = useState('')
  const look = useMutation({
    mutationFn: async () => {
      const csv = file.trim() === '' ? await fileOf(query, status, reason.trim()) : file
      return { csv, looked: await call(importRevisions, { body: { csv, dry_run: true } }) }
    },
  })
  const save = useMutation({
    mutationFn: (csv: string) => call(importRevisions, { body: { csv, dry_run: false } }),
    onSuccess: async ({ changed }) => {
      await again(listEvents)
      onClose()
      notify(`${count(changed)} changed`)
    },
  })
  const found = look.data
  const anew = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      set(value)
      look.reset()
    }
  }
  return (
    <>
      <DialogBody>
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label="Those that the filters show become"
            disabled={file.trim() !== ''}
            value={status}
            onChange={event => anew(setStatus)(EVENT_STATUSES.find(one => one === event.target.value) ?? 'rejected')}
          >
            {EVENT_STATUSES.map(one => (
              <option key={one} value={one}>
                {wordOf(one)}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Reason"
            optional
            maxLength={200}
            disabled={file.trim() !== ''}
            value={reason}
            onChange={event => anew(setReason)(event.target.value)}
          />
        </div>
        <TextArea
          label="Or what a file says"
          optional
          hint="CSV with titles: event_id, or click_id with transaction_id; status; amount, currency and reason if you like."
          rows={4}
          spellCheck={false}
          className="[&_textarea]:font-mono"
          value={file}
          onChange={event => anew(setFile)(event.target.value)}
        />
        <output>{found !== undefined && <Outcome looked={found.looked} />}</output>
        <RefusalNote refused={look.error ?? save.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button pending={look.isPending} reason={reasonAgainst(importRevisions, role)} onClick={() => look.mutate()}>
          Look through
        </Button>
        <Button
          look="primary"
          pending={save.isPending}
          reason={reasonAgainst(importRevisions, role) ?? reasonAgainstSaving(found?.looked)}
          onClick={() => found !== undefined && save.mutate(found.csv)}
        >
          {found === undefined ? 'Change them' : `Change ${count(found.looked.changed)}`}
        </Button>
      </DialogFoot>
    </>
  )
}

function reasonAgainstSaving(looked: Looked | undefined): string | undefined {
  if (looked === undefined) return 'Look through them first.'
  if (looked.wrong > 0) return 'Some lines are wrong.'
  return looked.changed === 0 ? 'Nothing would change.' : undefined
}

const MOST_WRONG = 5

function Outcome({ looked }: { looked: Looked }) {
  const { lines, changed, wrong, difference } = looked
  const same = lines.length - changed - wrong
  const wrongLines = lines.filter(({ fate }) => fate === 'wrong')
  return (
    <div className="flex flex-col gap-1">
      <p>
        <strong className="font-semibold">{count(changed)} would change</strong>, {count(same)} stand like that already.
        Revenue {difference.startsWith('-') ? 'falls' : 'rises'} by ${money(difference.replace('-', ''))}.
      </p>
      {wrongLines.slice(0, MOST_WRONG).map(({ line, error }) => (
        <p key={line} className="text-bad">
          Line {line}: {error}
        </p>
      ))}
      {wrong > MOST_WRONG && <p className="text-bad">and {count(wrong - MOST_WRONG)} more</p>}
    </div>
  )
}

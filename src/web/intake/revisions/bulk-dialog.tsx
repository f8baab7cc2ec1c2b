/** Changes the status of many conversions, all to the same one or each by a file, after a preview. */
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
type RevisionPreview = z.input<(typeof importRevisions)['reply']>

type BulkProps = { open: boolean; onClose: () => void; query: Query }

export function BulkDialog({ open, onClose, query }: BulkProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Approve or reject many"
      description={`Up to ${count(MOST_LINES)} at once. You see a preview before anything changes.`}
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
  const statusAndReason = `${status},"${reason.replaceAll('"', '""')}"`
  return ['event_id,status,reason', ...ids.slice(0, MOST_LINES).map(id => `${id},${statusAndReason}`)].join('\n')
}

function BulkForm({ onClose, query }: Omit<BulkProps, 'open'>) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [status, setStatus] = useState<EventStatus>('rejected')
  const [reason, setReason] = useState('')
  const [file, setFile] = useState('')
  const preview = useMutation({
    mutationFn: async () => {
      const csv = file.trim() === '' ? await fileOf(query, status, reason.trim()) : file
      return { csv, result: await call(importRevisions, { body: { csv, dry_run: true } }) }
    },
  })
  const save = useMutation({
    mutationFn: (csv: string) => call(importRevisions, { body: { csv, dry_run: false } }),
    onSuccess: async ({ changed }) => {
      await refresh(listEvents)
      onClose()
      notify(`${count(changed)} changed`)
    },
  })
  const found = preview.data
  const resettingPreview = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      set(value)
      preview.reset()
    }
  }
  return (
    <>
      <DialogBody>
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label="New status of the filtered conversions"
            disabled={file.trim() !== ''}
            value={status}
            onChange={event =>
              resettingPreview(setStatus)(EVENT_STATUSES.find(one => one === event.target.value) ?? 'rejected')
            }
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
            onChange={event => resettingPreview(setReason)(event.target.value)}
          />
        </div>
        <TextArea
          label="Or paste a CSV file"
          optional
          hint="Columns: event_id, or click_id with transaction_id; status; optionally amount, currency and reason."
          rows={4}
          spellCheck={false}
          className="[&_textarea]:font-mono"
          value={file}
          onChange={event => resettingPreview(setFile)(event.target.value)}
        />
        <output>{found !== undefined && <Outcome preview={found.result} />}</output>
        <RefusalNote refused={preview.error ?? save.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          pending={preview.isPending}
          reason={reasonAgainst(importRevisions, role)}
          onClick={() => preview.mutate()}
        >
          Preview
        </Button>
        <Button
          look="primary"
          pending={save.isPending}
          reason={reasonAgainst(importRevisions, role) ?? reasonAgainstSaving(found?.result)}
          onClick={() => found !== undefined && save.mutate(found.csv)}
        >
          {found === undefined ? 'Change' : `Change ${count(found.result.changed)}`}
        </Button>
      </DialogFoot>
    </>
  )
}

function reasonAgainstSaving(preview: RevisionPreview | undefined): string | undefined {
  if (preview === undefined) return 'Preview them first.'
  if (preview.wrong > 0) return 'Some lines are wrong.'
  return preview.changed === 0 ? 'Nothing would change.' : undefined
}

const MOST_WRONG = 5

function Outcome({ preview }: { preview: RevisionPreview }) {
  const { lines, changed, wrong, difference } = preview
  const same = lines.length - changed - wrong
  const wrongLines = lines.filter(({ fate }) => fate === 'wrong')
  return (
    <div className="flex flex-col gap-1">
      <p>
        <strong className="font-semibold">{count(changed)} would change</strong>, {count(same)} already have that
        status. Revenue {difference.startsWith('-') ? 'falls' : 'rises'} by ${money(difference.replace('-', ''))}.
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

/** The dialog that adds domains, one name per line. Each name is added separately, and its result is shown. */
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Check, X } from 'lucide-react'
import { useState } from 'react'
import { createDomain } from '../../../traffic/domains/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { TextArea } from '../../ground/ui/field.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { SHOW_DOMAINS } from './state.tsx'

const MOST_NAMES = 20

type Outcome = { line: string; id?: string; fault?: string }

export function AddDomainsDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Add domains">
      <AddForm onClose={onClose} />
    </Dialog>
  )
}

const linesOf = (typed: string): string[] => [...new Set(typed.split(/[\s,]+/).filter(line => line !== ''))]

function AddForm({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([])
  const refresh = useRefresh()
  const navigate = useNavigate()
  const { role } = useActive()
  const add = useMutation({
    mutationFn: async () => {
      const done: Outcome[] = []
      for (const line of linesOf(typed)) done.push(await addDomain(line))
      return done
    },
    onSuccess: async done => {
      await refresh(...SHOW_DOMAINS)
      const faults = done.filter(({ fault }) => fault !== undefined)
      const [only] = done
      if (faults.length === 0) {
        onClose()
        notify(
          done.length === 1 ? 'The domain is added' : `${done.length} domains are added`,
          'Set their DNS records next.',
        )
        if (done.length === 1 && only?.id !== undefined)
          await navigate({ to: '/settings/domains/$id', params: { id: only.id } })
        return
      }
      setOutcomes(done)
      // Names that were added are not sent again.
      setTyped(faults.map(({ line }) => line).join('\n'))
    },
  })
  const lines = linesOf(typed)
  const reason =
    reasonAgainst(createDomain, role) ??
    (lines.length === 0
      ? 'Type a name first.'
      : lines.length > MOST_NAMES
        ? `Add at most ${MOST_NAMES} at once.`
        : undefined)
  return (
    <DialogForm
      onSubmit={() => {
        if (reason === undefined && !add.isPending) add.mutate()
      }}
    >
      <DialogBody>
        <TextArea
          label="Names"
          rows={5}
          placeholder={'go.example.com\noffers.example.net'}
          hint="One per line, at most 20. www.example.com and example.com are two domains."
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          value={typed}
          onChange={event => setTyped(event.target.value)}
        />
        {outcomes.length > 0 && (
          <ul className="flex flex-col gap-1" aria-label="Results">
            {outcomes.map(({ line, fault }) => (
              <li key={line} className="flex gap-2">
                {fault === undefined ? (
                  <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
                ) : (
                  <X aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
                )}
                <span className="min-w-0 break-words">
                  <span className="font-mono text-sm">{line}</span>{' '}
                  <span className={fault === undefined ? 'text-ink-soft' : 'text-bad'}>
                    {fault === undefined ? 'Added.' : sentence(fault)}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        )}
      </DialogBody>
      <SaveFoot
        action={lines.length > 1 ? `Add ${lines.length} domains` : 'Add domain'}
        pending={add.isPending}
        reason={reason}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

async function addDomain(line: string): Promise<Outcome> {
  try {
    return { line, id: (await call(createDomain, { body: { name: line } })).id }
  } catch (error) {
    // The form has one field, so its name in the message says nothing.
    return { line, fault: (error instanceof Error ? error.message : String(error)).replace(/^name: /, '') }
  }
}

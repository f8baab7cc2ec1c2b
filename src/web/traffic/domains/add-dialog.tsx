/** Adds domains: a name a line, each by itself. What became of each stays beside it. */
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

const MOST = 20

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
      for (const line of linesOf(typed)) done.push(await added(line))
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
          'Set their records in DNS.',
        )
        if (done.length === 1 && only?.id !== undefined)
          await navigate({ to: '/settings/domains/$id', params: { id: only.id } })
        return
      }
      setOutcomes(done)
      // What is there already is not sent again.
      setTyped(faults.map(({ line }) => line).join('\n'))
    },
  })
  const lines = linesOf(typed)
  const reason =
    reasonAgainst(createDomain, role) ??
    (lines.length === 0 ? 'Type a name first.' : lines.length > MOST ? `${MOST} at once are the most.` : undefined)
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
          hint="One a line, 20 at most. www.example.com and example.com are two."
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          value={typed}
          onChange={event => setTyped(event.target.value)}
        />
        {outcomes.length > 0 && (
          <ul className="flex flex-col gap-1" aria-label="What became of them">
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

async function added(line: string): Promise<Outcome> {
  try {
    return { line, id: (await call(createDomain, { body: { name: line } })).id }
  } catch (error) {
    // Which field it is nobody has to be told: there is one.
    return { line, fault: (error instanceof Error ? error.message : String(error)).replace(/^name: /, '') }
  }
}

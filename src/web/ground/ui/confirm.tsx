/**
 * Asks before an action that cannot be undone: `const confirm = useConfirm()`, then `confirm({ …, deed })`. The deed runs while the
 * dialog is open, so that its error is shown there. Afterwards `refresh` is read again and `news` is shown.
 */
import { useMutation } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from './dialog.tsx'
import { TextField } from './field.tsx'
import { useRefresh } from './refresh.ts'
import { RefusalNote } from './refusal.tsx'
import { notifyDone } from './toast.tsx'

type Question = {
  title: string
  words: ReactNode
  /** What the button says. */
  action: string
  look?: 'danger' | 'primary'
  /** A word that must be typed to confirm. */
  typed?: string
  deed: () => Promise<unknown>
  /** The endpoints that show what the deed changes. */
  refresh?: readonly Endpoint[]
  /** The notification when it is done. */
  news?: string
}

const Confirming = createContext<(question: Question) => void>(() => undefined)

export const useConfirm = () => useContext(Confirming)

export function Confirmations({ children }: { children: ReactNode }) {
  const [question, setQuestion] = useState<Question>()
  const [open, setOpen] = useState(false)
  const confirm = useCallback((next: Question) => {
    setQuestion(next)
    setOpen(true)
  }, [])
  return (
    <Confirming value={confirm}>
      {children}
      {question !== undefined && (
        <Dialog open={open} onClose={() => setOpen(false)} title={question.title}>
          <Ask key={question.title} question={question} onClose={() => setOpen(false)} />
        </Dialog>
      )}
    </Confirming>
  )
}

function Ask({ question, onClose }: { question: Question; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const refresh = useRefresh()
  const deed = useMutation({
    mutationFn: question.deed,
    onSuccess: async answered => {
      await refresh(...(question.refresh ?? []))
      onClose()
      if (question.news !== undefined) notifyDone(question.news, answered)
    },
  })
  const missing = question.typed !== undefined && typed.trim() !== question.typed
  return (
    <DialogForm
      onSubmit={() => {
        if (!missing && !deed.isPending) deed.mutate()
      }}
    >
      <DialogBody>
        <div className="text-ink-soft [&_strong]:font-semibold [&_strong]:text-ink">{question.words}</div>
        {question.typed !== undefined && (
          <TextField
            label={`Type ${question.typed} to confirm`}
            value={typed}
            onChange={event => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        <RefusalNote refused={deed.error} />
      </DialogBody>
      <SaveFoot
        action={question.action}
        look={question.look ?? 'danger'}
        pending={deed.isPending}
        reason={missing ? `Type ${question.typed} first.` : undefined}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

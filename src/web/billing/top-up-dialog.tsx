/** Adding to the balance. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { z } from 'zod'
import { readBilling, topUpBalance } from '../../billing/api.ts'
import { call } from '../call.ts'
import { money } from '../figures.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../ui/dialog.tsx'
import { noneIfBlank, submits, useDraft } from '../ui/draft.ts'
import { TextField } from '../ui/field.tsx'
import { RefusalNote } from '../ui/refusal.tsx'
import { notify } from '../ui/toast.tsx'

type Draft = z.input<(typeof topUpBalance)['body']>

export function TopUpDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Top up"
      description="Writes the amount into the ledger. Sluice moves no money itself."
    >
      <TopUpForm onClose={onClose} />
    </Dialog>
  )
}

function TopUpForm({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const form = useDraft<Draft>(topUpBalance.body, { amount: '', note: null })
  const errors = form.formState.errors
  const add = useMutation({
    mutationFn: (body: Draft) => call(topUpBalance, { body }),
    onSuccess: async entry => {
      await queries.invalidateQueries({ queryKey: [readBilling.route] })
      onClose()
      notify('The balance is topped up', `It is $${money(entry.balance)} now.`)
    },
  })
  return (
    <DialogForm onSubmit={submits(form, draft => add.mutate(draft))}>
      <DialogBody>
        <TextField
          label="Amount, $"
          inputMode="decimal"
          autoComplete="off"
          error={errors.amount?.message}
          {...form.register('amount')}
        />
        <TextField
          label="Note"
          optional
          autoComplete="off"
          error={errors.note?.message}
          {...form.register('note', noneIfBlank)}
        />
        <RefusalNote refused={add.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={add.isPending}>
          Top up
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

/** Entering into the ledger by hand: what was paid, and what puts an entry right. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { adjustBalance, readBalanceNotice, readBilling, topUpBalance } from '../../billing/api.ts'
import { call } from '../call.ts'
import { money } from '../figures.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../ui/dialog.tsx'
import { noneIfBlank, submits, useDraft } from '../ui/draft.ts'
import { TextField } from '../ui/field.tsx'
import { RefusalNote } from '../ui/refusal.tsx'
import { notify } from '../ui/toast.tsx'

type DialogProps = { open: boolean; onClose: () => void }

/** A name for what this form enters, so that pressing twice, or again after a lost answer, enters it once. */
const newNonce = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(36)).join('-')

function useEntered(onClose: () => void, title: string) {
  const queries = useQueryClient()
  return async (entry: { balance: string }) => {
    await queries.invalidateQueries({ queryKey: [readBilling.route] })
    await queries.invalidateQueries({ queryKey: [readBalanceNotice.route] })
    onClose()
    notify(title, `It is ${money(entry.balance)} dollars now.`)
  }
}

export function TopUpDialog({ open, onClose }: DialogProps) {
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

type TopUp = z.input<(typeof topUpBalance)['body']>

function TopUpForm({ onClose }: { onClose: () => void }) {
  const [nonce] = useState(newNonce)
  const form = useDraft<TopUp>(topUpBalance.body, { amount: '', note: null, nonce })
  const errors = form.formState.errors
  const add = useMutation({
    mutationFn: (body: TopUp) => call(topUpBalance, { body }),
    onSuccess: useEntered(onClose, 'The balance is topped up'),
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

export function AdjustDialog({ open, onClose }: DialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Adjust the balance"
      description="The ledger only grows: what was entered wrongly is put right by an entry against it."
    >
      <AdjustForm onClose={onClose} />
    </Dialog>
  )
}

type Adjustment = z.input<(typeof adjustBalance)['body']>

function AdjustForm({ onClose }: { onClose: () => void }) {
  const [nonce] = useState(newNonce)
  const form = useDraft<Adjustment>(adjustBalance.body, { amount: '', note: '', nonce })
  const errors = form.formState.errors
  const add = useMutation({
    mutationFn: (body: Adjustment) => call(adjustBalance, { body }),
    onSuccess: useEntered(onClose, 'The balance is adjusted'),
  })
  return (
    <DialogForm onSubmit={submits(form, draft => add.mutate(draft))}>
      <DialogBody>
        <TextField
          label="Amount, $"
          hint="With a minus it is taken from the balance."
          autoComplete="off"
          error={errors.amount?.message}
          {...form.register('amount')}
        />
        <TextField label="Reason" autoComplete="off" error={errors.note?.message} {...form.register('note')} />
        <RefusalNote refused={add.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={add.isPending}>
          Adjust
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

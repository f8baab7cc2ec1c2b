/** Manual ledger entries: top-ups and adjustments. */
import { useState } from 'react'
import type { z } from 'zod'
import { adjustBalance, topUpBalance } from '../../../money/billing/api.ts'
import { call } from '../../ground/call.ts'
import { money } from '../../ground/figures/figures.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { SHOW_BILLING } from './billing-settings.tsx'

type DialogProps = { open: boolean; onClose: () => void }

/** Identifies this form's entry, so that submitting twice, or again after a lost answer, records it once. */
const newNonce = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(36)).join('-')

const notifyBalance = (title: string, { balance }: { balance: string }) =>
  notify(title, `The balance is now $${money(balance)}.`)

export function TopUpDialog({ open, onClose }: DialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Top up"
      description="Adds the amount to the ledger. Sluice does not move money itself."
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
  return (
    <DraftForm
      form={form}
      action="Top up"
      endpoint={topUpBalance}
      deed={body => call(topUpBalance, { body })}
      refresh={SHOW_BILLING}
      onClose={onClose}
      onSaved={entry => notifyBalance('The balance is topped up', entry)}
    >
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
    </DraftForm>
  )
}

export function AdjustDialog({ open, onClose }: DialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Adjust the balance"
      description="Ledger entries cannot be edited. Correct a wrong entry with an opposite one."
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
  return (
    <DraftForm
      form={form}
      action="Adjust"
      endpoint={adjustBalance}
      deed={body => call(adjustBalance, { body })}
      refresh={SHOW_BILLING}
      onClose={onClose}
      onSaved={entry => notifyBalance('The balance is adjusted', entry)}
    >
      <TextField
        label="Amount, $"
        hint="A negative amount lowers the balance."
        autoComplete="off"
        error={errors.amount?.message}
        {...form.register('amount')}
      />
      <TextField label="Reason" autoComplete="off" error={errors.note?.message} {...form.register('note')} />
    </DraftForm>
  )
}

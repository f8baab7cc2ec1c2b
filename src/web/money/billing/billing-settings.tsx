/** An owner's billing settings: the price, the low balance warning, and whether deliveries wait for a top-up. */
import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import { readBalanceNotice, readBilling, setHolding, setLowBalance, setPrice } from '../../../money/billing/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { noneIfBlank, submits, useDraft } from '../../ground/ui/draft.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'

type Billing = z.input<(typeof readBilling)['reply']>

/** The endpoints that show the balance and the price. */
export const SHOW_BILLING = [readBilling, readBalanceNotice]

export function BillingSettings({ billing }: { billing: Billing }) {
  const { low_balance_threshold, price_per_person, hold_when_empty, deliveries_held } = billing
  return (
    <div className="mb-8">
      <Setting title="Low balance" words="Below the threshold every page shows a warning, and the owners get one mail.">
        <ThresholdForm key={low_balance_threshold} threshold={low_balance_threshold} />
      </Setting>
      <PriceSetting price={price_per_person} />
      <Setting title="Empty balance" words="Conversions are recorded even while the balance is below zero.">
        <HoldingForm holds={hold_when_empty} held={deliveries_held} />
      </Setting>
    </div>
  )
}

export function PriceSetting({ price }: { price: string }) {
  return (
    <Setting title="Price" words="Charged once per person, whichever system reports them first.">
      <PriceForm key={price} price={price} />
    </Setting>
  )
}

type Threshold = z.input<(typeof setLowBalance)['body']>

function ThresholdForm({ threshold }: { threshold: string | null }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useDraft<Threshold>(setLowBalance.body, { low_balance_threshold: threshold })
  useUnsaved(form.formState.isDirty, 'the threshold')
  const reason = reasonAgainst(setLowBalance, role)
  const save = useMutation({
    mutationFn: (body: Threshold) => call(setLowBalance, { body }),
    onSuccess: async (_, { low_balance_threshold }) => {
      await refresh(...SHOW_BILLING)
      form.reset({ low_balance_threshold })
      notify(low_balance_threshold === null ? 'Low balance warnings are off' : 'The threshold is saved')
    },
  })
  return (
    <PartForm
      className="max-w-md"
      action="Save threshold"
      onSubmit={submits(form, draft => save.mutate(draft))}
      save={save}
      reason={reason}
    >
      <TextField
        label="Warn below, $"
        hint="Blank = no warning."
        inputMode="decimal"
        autoComplete="off"
        error={form.formState.errors.low_balance_threshold?.message}
        {...form.register('low_balance_threshold', noneIfBlank)}
      />
    </PartForm>
  )
}

type Price = z.input<(typeof setPrice)['body']>

function PriceForm({ price }: { price: string }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useDraft<Price>(setPrice.body, { price_per_person: price })
  useUnsaved(form.formState.isDirty, 'the price')
  const reason = reasonAgainst(setPrice, role)
  const save = useMutation({
    mutationFn: (body: Price) => call(setPrice, { body }),
    onSuccess: async (_, body) => {
      await refresh(...SHOW_BILLING)
      form.reset(body)
      notify('The price is saved', 'Earlier charges stay as they are.')
    },
  })
  return (
    <PartForm
      className="max-w-md"
      action="Save price"
      onSubmit={submits(form, draft => save.mutate(draft))}
      save={save}
      reason={reason}
    >
      <TextField
        label="Price per person, $"
        hint="Applies to people first reported from now on."
        inputMode="decimal"
        autoComplete="off"
        error={form.formState.errors.price_per_person?.message}
        {...form.register('price_per_person')}
      />
    </PartForm>
  )
}

function HoldingForm({ holds, held }: { holds: boolean; held: number }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const set = useMutation({
    mutationFn: (hold_when_empty: boolean) => call(setHolding, { body: { hold_when_empty } }),
    onSuccess: () => refresh(...SHOW_BILLING),
  })
  const waiting = held === 0 ? '' : ` ${count(held)} are waiting now.`
  return (
    <div className="flex flex-col gap-2">
      <Checkbox
        label="Hold deliveries while the balance is below zero"
        words={`Postbacks and ad account events wait, and are sent in order after a top-up.${waiting}`}
        checked={set.isPending ? set.variables : holds}
        reason={reasonAgainst(setHolding, role)}
        onChange={event => set.mutate(event.target.checked)}
      />
      <RefusalNote refused={set.error} />
    </div>
  )
}

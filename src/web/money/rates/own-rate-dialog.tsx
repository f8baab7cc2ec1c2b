/** Adds a workspace's own rate of a currency. Earlier own rates are kept. */
import { z } from 'zod'
import { Currency } from '../../../contract/currencies.ts'
import { listRates, setOwnRate } from '../../../money/rates/api.ts'
import { call } from '../../ground/call.ts'
import { CurrencyField } from '../../ground/original.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'

const OwnRateForm = setOwnRate.body.extend({ currency: Currency })
type OwnRateDraft = z.input<typeof OwnRateForm>

type OwnRateDialogProps = { currency: string | undefined; today: string; onClose: () => void }

/** Open while `currency` is defined. An empty string lets the user enter the currency. */
export function OwnRateDialog({ currency, today, onClose }: OwnRateDialogProps) {
  return (
    <Dialog
      open={currency !== undefined}
      onClose={onClose}
      title="Set own rate"
      description="Overrides automatic rates for new conversions and spend from this date. Earlier records do not change."
    >
      {currency !== undefined && <OwnRateFields currency={currency} today={today} onClose={onClose} />}
    </Dialog>
  )
}

function OwnRateFields({ currency, today, onClose }: { currency: string; today: string; onClose: () => void }) {
  const form = useDraft<OwnRateDraft>(OwnRateForm, { currency, from_day: today, usd_per_unit: '', note: '' })
  const errors = form.formState.errors
  return (
    <DraftForm
      form={form}
      action="Save rate"
      endpoint={setOwnRate}
      deed={({ currency: code, ...body }) => call(setOwnRate, { params: { currency: code.toUpperCase() }, body })}
      refresh={[listRates]}
      onClose={onClose}
      onSaved={saved =>
        notify(
          saved.usd_per_unit === null
            ? `${saved.currency} uses automatic rates`
            : `The rate of ${saved.currency} is saved`,
        )
      }
    >
      <div className="grid grid-cols-2 gap-4">
        <CurrencyField
          label="Currency"
          placeholder="EUR"
          error={errors.currency?.message}
          {...form.register('currency')}
        />
        <TextField type="date" label="From (UTC)" error={errors.from_day?.message} {...form.register('from_day')} />
      </div>
      <TextField
        label="USD per unit"
        inputMode="decimal"
        autoComplete="off"
        placeholder="1.08"
        hint="Blank = automatic rates from this date."
        error={errors.usd_per_unit?.message}
        {...form.register('usd_per_unit', noneIfBlank)}
      />
      <TextField label="Note" optional maxLength={200} error={errors.note?.message} {...form.register('note')} />
    </DraftForm>
  )
}

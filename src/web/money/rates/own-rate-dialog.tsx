/** An own rate of a currency, which is added to those before it. */
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
type Draft = z.input<typeof OwnRateForm>

type OwnRateDialogProps = { currency: string | undefined; today: string; onClose: () => void }

/** Open where there is a currency; the empty one is to be named. */
export function OwnRateDialog({ currency, today, onClose }: OwnRateDialogProps) {
  return (
    <Dialog
      open={currency !== undefined}
      onClose={onClose}
      title="Set own rate"
      description="It goes before the sources from its day on, for what is booked from now on. What is booked stays as it is."
    >
      {currency !== undefined && <OwnRateFields currency={currency} today={today} onClose={onClose} />}
    </Dialog>
  )
}

function OwnRateFields({ currency, today, onClose }: { currency: string; today: string; onClose: () => void }) {
  const form = useDraft<Draft>(OwnRateForm, { currency, from_day: today, usd_per_unit: '', note: '' })
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
            ? `${saved.currency} goes by the sources`
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
        label="US dollars for one"
        inputMode="decimal"
        autoComplete="off"
        placeholder="1.08"
        hint="Empty: from that day the sources’ rates again."
        error={errors.usd_per_unit?.message}
        {...form.register('usd_per_unit', noneIfBlank)}
      />
      <TextField label="Note" optional maxLength={200} error={errors.note?.message} {...form.register('note')} />
    </DraftForm>
  )
}

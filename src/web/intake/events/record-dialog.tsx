/** Records a conversion by hand: one that a network missed, or a test of postbacks. */
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { ConversionDraft, listEvents, recordConversion } from '../../../intake/events/api.ts'
import { call } from '../../ground/call.ts'
import { useIsCharging } from '../../ground/charging.ts'
import { inWords } from '../../ground/rungs.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'

type Draft = z.input<typeof ConversionDraft>

export function RecordDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Record a conversion">
      <RecordForm onClose={onClose} />
    </Dialog>
  )
}

function RecordForm({ onClose }: { onClose: () => void }) {
  const isCharging = useIsCharging()
  const form = useDraft<Draft>(ConversionDraft, { clickId: '', type: 'lead', payout: null, nonce: null })
  const errors = form.formState.errors
  return (
    <DraftForm
      form={form}
      action="Record conversion"
      endpoint={recordConversion}
      deed={body => call(recordConversion, { body })}
      refresh={[listEvents]}
      onClose={onClose}
      onSaved={({ type }) => notify(`${inWords(type)} is recorded`)}
    >
      <TextField
        label="Click id"
        autoComplete="off"
        className="[&_input]:font-mono"
        error={errors.clickId?.message}
        {...form.register('clickId')}
      />
      <SelectField label="Type" error={errors.type?.message} {...form.register('type')}>
        {EVENT_TYPES.map(type => (
          <option key={type} value={type}>
            {inWords(type)}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Payout, $"
        optional
        hint="Blank: the offer’s payout."
        inputMode="decimal"
        error={errors.payout?.message}
        {...form.register('payout', noneIfBlank)}
      />
      <TextField
        label="Transaction id"
        optional
        hint="Such as an order number. A second conversion of this type on the click needs another one."
        error={errors.nonce?.message}
        {...form.register('nonce', noneIfBlank)}
      />
      <Note kind="warning">
        <strong>This cannot be undone:</strong>{' '}
        {isCharging
          ? 'it charges the balance once per person, is sent to the ad account and triggers postbacks.'
          : 'it is sent to the ad account and triggers postbacks.'}
      </Note>
    </DraftForm>
  )
}

/** An offer, new or changed. Saving replaces it whole, as the API does. */
import type { z } from 'zod'
import { listFunnels } from '../../funnels/api.ts'
import { createOffer, listOffers, type Offer, OfferDraft, previewOffer, replaceOffer } from '../../offers/api.ts'
import { call } from '../call.ts'
import { inWords } from '../feed/rungs.ts'
import { EVENT_TYPES } from '../lists.ts'
import { Dialog } from '../ui/dialog.tsx'
import { DraftForm } from '../ui/draft-form.tsx'
import { noneIfBlank, useDraft } from '../ui/draft.ts'
import { Checkbox, TextField } from '../ui/field.tsx'
import { notify } from '../ui/toast.tsx'
import { AddressPreview } from './address-preview.tsx'

type OfferRow = z.input<typeof Offer>
type Draft = z.input<typeof OfferDraft>

type OfferDialogProps = { offer: OfferRow | undefined; open: boolean; onClose: () => void }

export function OfferDialog({ offer, open, onClose }: OfferDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title={offer === undefined ? 'New offer' : `Edit ${offer.name}`} width="wide">
      <OfferForm offer={offer} onClose={onClose} />
    </Dialog>
  )
}

/** A new offer pays for money, not for every step on the way to it. */
const MONEY_TYPES = ['lead', 'registration', 'deposit', 'ftd', 'purchase', 'subscription_renewed'] as const

function OfferForm({ offer, onClose }: { offer: OfferRow | undefined; onClose: () => void }) {
  const form = useDraft<Draft>(
    OfferDraft,
    offer === undefined
      ? { name: '', url: '', payout: '', payout_types: [...MONEY_TYPES] }
      : { name: offer.name, url: offer.url, payout: offer.payout ?? '', payout_types: offer.payout_types },
  )
  const errors = form.formState.errors
  const types = form.watch('payout_types') ?? []
  return (
    <DraftForm
      form={form}
      action={offer === undefined ? 'Add offer' : 'Save offer'}
      endpoint={offer === undefined ? createOffer : replaceOffer}
      deed={body =>
        offer === undefined ? call(createOffer, { body }) : call(replaceOffer, { params: { id: offer.id }, body })
      }
      refresh={[listOffers, listFunnels]}
      onClose={onClose}
      onSaved={({ name }) => notify(`${name} is ${offer === undefined ? 'added' : 'saved'}`)}
    >
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_9rem]">
        <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
        <TextField
          label="Payout, $"
          optional
          inputMode="decimal"
          autoComplete="off"
          error={errors.payout?.message}
          {...form.register('payout', noneIfBlank)}
        />
      </div>
      <TextField
        label="Address"
        placeholder="https://example.com/offer?subid={click_id}"
        hint="The network must send {click_id} back with the conversion. Further macros: {sub1} to {sub9}, {ref_id}, {campaign_id}, {geo}."
        error={errors.url?.message}
        {...form.register('url')}
      />
      <AddressPreview
        address={form.watch('url')}
        preview={url => call(previewOffer, { body: { url } })}
        withoutClick="Without {click_id} in it the network cannot say which click a conversion belongs to."
      />
      <fieldset>
        <legend className="mb-2 font-medium">Earned by</legend>
        <p className="mb-3 text-sm text-ink-faint">
          Which conversions take the payout when they bring none of their own. None ticked: every type.
        </p>
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
          {EVENT_TYPES.map(type => (
            <Checkbox
              key={type}
              label={inWords(type)}
              checked={types.includes(type)}
              onChange={event =>
                form.setValue(
                  'payout_types',
                  event.target.checked ? [...types, type] : types.filter(one => one !== type),
                  { shouldDirty: true },
                )
              }
            />
          ))}
        </div>
      </fieldset>
    </DraftForm>
  )
}

/** The dialog that creates or edits an offer. Saving replaces all of its fields, as the API does. */
import { z } from 'zod'
import { VISIT_MACROS } from '../../../contract/address.ts'
import { EventType } from '../../../contract/event-types.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import {
  setOfferTags,
  setOfferNote,
  createOffer,
  listOffers,
  type Offer,
  OfferDraft,
  previewOffer,
  readOffer,
  replaceOffer,
} from '../../../traffic/offers/api.ts'
import { LabelFields } from '../../ground/many/label-fields.tsx'
import { call } from '../../ground/call.ts'
import { CurrencyField } from '../../ground/original.tsx'
import { nameOfCopy } from '../../../contract/copies.ts'
import { NewDialog } from '../../ground/ui/clone.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { chosenIn, noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { notifyDone } from '../../ground/ui/toast.tsx'
import { CapsAndHours } from '../caps/caps-and-hours.tsx'
import { AddressPreview } from './address-preview.tsx'
import { EarnedBy } from './earned-by.tsx'
import { LeadingCampaigns } from './leading-campaigns.tsx'
import { RepeatedPayouts } from './repeated-payouts.tsx'

export type OfferRow = z.input<typeof Offer>

/** In the form, null means that the types are not chosen yet; the API would read a missing value as every type. */
const OfferForm = OfferDraft.extend({ payout_types: z.array(EventType).nullable() }).superRefine((offer, context) => {
  if (offer.payout != null && offer.payout_types === null)
    context.addIssue({ code: 'custom', path: ['payout_types'], message: 'Choose what the offer pays on.' })
})
type Draft = z.input<typeof OfferForm>

type OfferDialogProps = {
  offer: OfferRow | undefined
  /** The initial address of a new offer. */
  address?: string
  /** The id of the offer to copy. */
  clone?: string | undefined
  open: boolean
  onClose: () => void
  onSaved?: (offer: OfferRow) => void
}

export function OfferDialog({ open, clone, ...rest }: OfferDialogProps) {
  const { offer, onClose } = rest
  if (offer === undefined)
    return (
      <NewDialog
        what="offer"
        width="wide"
        clone={clone}
        read={id => call(readOffer, { params: { id } })}
        nameOf={({ name }) => name}
        open={open}
        onClose={onClose}
      >
        {original => <OfferFields {...rest} original={original} />}
      </NewDialog>
    )
  return (
    <Dialog open={open} onClose={onClose} title={`Edit ${offer.name}`} width="wide">
      <OfferFields {...rest} />
    </Dialog>
  )
}

function draftOf(offer: OfferRow | undefined, address: string): Draft {
  if (offer === undefined) return { name: '', url: address, payout: '', payout_currency: '', payout_types: null }
  const { name, url, payout, payout_currency, payout_types } = offer
  // An offer without a payout was saved without a choice of types.
  const hasChosenTypes = payout !== null || payout_types.length > 0
  return {
    name,
    url,
    payout: payout ?? '',
    payout_currency: payout_currency ?? '',
    payout_types: hasChosenTypes ? payout_types : null,
  }
}

const copyOf = (offer: OfferRow): OfferRow => ({ ...offer, name: nameOfCopy(offer.name) })

type FieldsProps = Omit<OfferDialogProps, 'open' | 'clone'> & { original?: OfferRow | undefined }

function OfferFields({ offer, original, address = '', onClose, onSaved }: FieldsProps) {
  const form = useDraft<Draft>(OfferForm, draftOf(offer ?? (original && copyOf(original)), address))
  const errors = form.formState.errors
  const hasPayout = (form.watch('payout') ?? '') !== ''
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
      onSaved={saved => {
        notifyDone(`${saved.name} is ${offer === undefined ? 'added' : 'saved'}`, saved)
        onSaved?.(saved)
      }}
    >
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_10.5rem_5.5rem]">
        <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
        <TextField
          label={`Payout, ${form.watch('payout_currency')?.toUpperCase() || '$'}`}
          optional
          inputMode="decimal"
          autoComplete="off"
          error={errors.payout?.message}
          {...form.register('payout', noneIfBlank)}
        />
        <CurrencyField
          label="Currency"
          placeholder="USD"
          error={errors.payout_currency?.message}
          {...form.register('payout_currency', noneIfBlank)}
        />
      </div>
      <TextField
        label="Address"
        placeholder="https://example.com/offer?subid={click_id}"
        hint={`The network must return {click_id} in its postback. Macros: ${VISIT_MACROS}.`}
        error={errors.url?.message}
        {...form.register('url')}
      />
      <AddressPreview
        address={form.watch('url')}
        preview={url => call(previewOffer, { body: { url } })}
        withoutClick="Without {click_id} the network cannot report which click converted."
      />
      {offer?.payout != null && <RepeatedPayouts offer={offer} />}
      {hasPayout && (
        <EarnedBy
          types={form.watch('payout_types')}
          error={errors.payout_types?.message}
          onChange={types => form.setValue('payout_types', types, chosenIn(form))}
        />
      )}
      {offer !== undefined && (
        <section aria-label="Caps and hours" className="flex flex-col gap-2 border-t border-line pt-3">
          <h3 className="font-medium">Caps and hours</h3>
          <CapsAndHours of={{ object: 'offer', id: offer.id, name: offer.name, earns: offer.payout_types }} />
        </section>
      )}
      {offer !== undefined && <LeadingCampaigns offer={offer} />}
      {offer !== undefined && (
        <section aria-label="Tags and note" className="border-t border-line pt-3">
          <LabelFields of={offer} setTags={setOfferTags} setNote={setOfferNote} shownIn={[listOffers]} />
        </section>
      )}
    </DraftForm>
  )
}

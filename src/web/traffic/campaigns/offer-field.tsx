/** The offer of a campaign: chosen, or made on the spot. Its address is where visitors go unless another is typed. */
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { createOffer, listOffers } from '../../../traffic/offers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import { exactMoney } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { SelectField } from '../../ground/ui/field.tsx'
import { OfferDialog, type OfferRow } from '../offers/offer-dialog.tsx'
import type { Draft } from './draft.ts'

export function OfferField({ form }: { form: UseFormReturn<Draft, unknown, Draft> }) {
  const { role } = useActive()
  const [creating, setCreating] = useState(false)
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } }))
  const known = offers.data?.data ?? []
  const chosen = form.watch('offer_id') ?? ''
  const destination = form.watch('destination')
  const address = destination.type === 'redirect' ? destination.url : ''

  const choose = (offer: OfferRow | undefined) => {
    form.setValue('offer_id', offer?.id ?? null, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
    // What someone typed stays; what an offer filled in follows the offer.
    const isTyped = address.trim() !== '' && known.every(({ id, url }) => id !== chosen || url !== address)
    if (destination.type !== 'redirect' || offer === undefined || isTyped) return
    form.setValue('destination.url', offer.url, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
  }
  return (
    <>
      <div className="flex flex-wrap items-start gap-2">
        <SelectField
          label="Offer"
          optional
          hint={
            destination.type === 'redirect'
              ? 'What a conversion earns that brings no payout of its own. Its address is filled in below.'
              : 'What a conversion earns that brings no payout of its own.'
          }
          className="flex-1 basis-72"
          error={form.formState.errors.offer_id?.message}
          value={chosen}
          onChange={event => choose(known.find(({ id }) => id === event.target.value))}
        >
          <option value="">None</option>
          {chosen !== '' && known.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
          {known
            .filter(({ id, status }) => status === 'active' || id === chosen)
            .map(({ id, name, payout }) => (
              <option key={id} value={id}>
                {payout === null ? name : `${name} ($${exactMoney(payout)})`}
              </option>
            ))}
        </SelectField>
        <Button
          icon={Plus}
          className="sm:mt-6"
          reason={reasonAgainst(createOffer, role)}
          onClick={() => setCreating(true)}
        >
          New offer
        </Button>
      </div>
      <OfferDialog
        offer={undefined}
        address={address}
        open={creating}
        onClose={() => setCreating(false)}
        onSaved={choose}
      />
    </>
  )
}

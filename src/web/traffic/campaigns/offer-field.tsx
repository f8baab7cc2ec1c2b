/** The offer of a campaign, chosen or created here: its destination, or only the payout of its conversions. */
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { createOffer, listOffers } from '../../../traffic/offers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import { exactMoney } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { chosenIn } from '../../ground/ui/draft.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import { OfferDialog, type OfferRow } from '../offers/offer-dialog.tsx'
import type { CampaignValues } from './draft.ts'

type Form = UseFormReturn<CampaignValues, unknown, CampaignValues>

const offersQuery = ask(listOffers, { query: { limit: 200 } })

/** The offer that is chosen in the form. */
export function useChosenOffer(form: Form): OfferRow | undefined {
  const known = useQuery(offersQuery).data?.data ?? []
  const chosen = form.watch('offer_id')
  return known.find(({ id }) => id === chosen)
}

export function OfferField({ form }: { form: Form }) {
  const { role } = useActive()
  const [creating, setCreating] = useState(false)
  const known = useQuery(offersQuery).data?.data ?? []
  const chosen = form.watch('offer_id') ?? ''
  const destination = form.watch('destination')
  const isDestination = destination.type === 'offer'
  const fault = faultOf(form)

  const choose = (offer: OfferRow | undefined) => {
    form.setValue('offer_id', offer?.id ?? null, chosenIn(form))
    if (isDestination) form.setValue('destination.offer_id', offer?.id ?? '', chosenIn(form))
  }
  return (
    <>
      <div className="flex flex-wrap items-start gap-2">
        <SelectField
          label="Offer"
          optional={!isDestination}
          hint={
            isDestination
              ? 'Visitors go to its address, also after that changes. Its payout is used when the postback has no payout.'
              : 'Used when the postback has no payout.'
          }
          className="flex-1 basis-72"
          error={isDestination && fault !== undefined && chosen === '' ? 'Choose an offer, or add one.' : fault}
          value={chosen}
          onChange={event => choose(known.find(({ id }) => id === event.target.value))}
        >
          <option value="">{isDestination ? 'Choose an offer' : 'None'}</option>
          {chosen !== '' && known.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
          {known
            .filter(({ id, status }) => status === 'active' || id === chosen)
            .map(({ id, name, payout, payout_currency }) => (
              <option key={id} value={id}>
                {payout === null
                  ? name
                  : `${name} (${payout_currency === null ? `$${exactMoney(payout)}` : `${exactMoney(payout)} ${payout_currency}`})`}
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
        address={destination.type === 'redirect' ? destination.url : ''}
        open={creating}
        onClose={() => setCreating(false)}
        onSaved={choose}
      />
    </>
  )
}

/** The error of the offer, as the destination or beside one. */
function faultOf(form: Form): string | undefined {
  const { destination, offer_id } = form.formState.errors
  const followed = destination === undefined ? undefined : form.getFieldState('destination.offer_id').error
  return followed?.message ?? offer_id?.message
}

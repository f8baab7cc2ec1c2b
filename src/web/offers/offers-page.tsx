/** Offers: what a conversion pays, and where visitors are sent for it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pencil, Tag } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { listFunnels } from '../../funnels/api.ts'
import { createOffer, deleteOffer, listOffers, OFFER_STATUSES, type Offer, setOfferStatus } from '../../offers/api.ts'
import { ask, call } from '../call.ts'
import { inWords } from '../feed/rungs.ts'
import { day, exactMoney, NONE } from '../figures.ts'
import { Badge } from '../ui/badge.tsx'
import { Choice } from '../ui/choice.tsx'
import { AddButton, List, useListAddress } from '../ui/list.tsx'
import { MenuItem, MenuLine } from '../ui/menu.tsx'
import { EmptyState, PageHeader } from '../ui/page.tsx'
import { ArchiveItem, DeleteItem, RowMenu } from '../ui/row-menu.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { OfferDialog } from './offer-dialog.tsx'

type OfferRow = z.input<typeof Offer>

const route = getRouteApi('/inside/offers')

export function OffersPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const [creating, setCreating] = useState(false)
  const offers = useQuery({ ...ask(listOffers, { query: search }), placeholderData: keepPreviousData })
  const create = (
    <AddButton endpoint={createOffer} onClick={() => setCreating(true)}>
      New offer
    </AddButton>
  )
  return (
    <>
      <PageHeader
        title="Offers"
        words="A click earns by its offer: a conversion without a payout of its own takes the offer’s."
      >
        <SearchField value={search.q} onSeek={q => narrow({ q })} />
        <Choice
          label="Status"
          any="Any status"
          options={OFFER_STATUSES}
          words={inWords}
          value={search.status}
          onChange={status => narrow({ status })}
        />
        {create}
      </PageHeader>
      <List
        query={offers}
        address={address}
        what="offers"
        empty={
          <EmptyState
            icon={Tag}
            title="No offers yet"
            words="Add what you promote with its payout, and attach it to campaigns."
          >
            {create}
          </EmptyState>
        }
      >
        {rows => <OfferTable offers={rows} />}
      </List>
      <OfferDialog offer={undefined} open={creating} onClose={() => setCreating(false)} />
    </>
  )
}

function OfferTable({ offers }: { offers: readonly OfferRow[] }) {
  return (
    <Table caption="Offers">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>Status</Head>
          <Head numeric>Payout, $</Head>
          <Head>Earned by</Head>
          <Head>Address</Head>
          <Head>Created</Head>
          <Head unseen>Actions</Head>
        </tr>
      </thead>
      <tbody>
        {offers.map(offer => (
          <Row key={offer.id} className={offer.status === 'archived' ? 'text-ink-faint' : ''}>
            <RowHead stay className="max-w-36 truncate sm:max-w-60" title={offer.name}>
              {offer.name}
            </RowHead>
            <Cell>
              <Badge tone={offer.status === 'active' ? 'good' : 'plain'}>{inWords(offer.status)}</Badge>
            </Cell>
            <Cell numeric>{offer.payout === null ? NONE : exactMoney(offer.payout)}</Cell>
            <Cell className="max-w-48 truncate">
              {offer.payout_types.length === 0 ? 'Every type' : offer.payout_types.map(inWords).join(', ')}
            </Cell>
            <Cell className="max-w-72 truncate font-mono text-sm" title={offer.url}>
              {offer.url}
            </Cell>
            <Cell>{day(offer.created_at)}</Cell>
            <Cell className="pr-1! text-right">
              <OfferMenu offer={offer} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function OfferMenu({ offer }: { offer: OfferRow }) {
  const [editing, setEditing] = useState(false)
  const { id, name, status } = offer
  return (
    <>
      <RowMenu name={name}>
        <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
          Edit
        </MenuItem>
        <ArchiveItem
          name={name}
          endpoint={setOfferStatus}
          refresh={[listOffers, listFunnels]}
          status={status}
          words="It gets no new clicks: campaigns that name it send visitors to their fallback, funnels to their other offers. Clicks it already has keep earning its payout."
          wordsBack="Campaigns and funnels that name it send visitors to it again."
          deed={next => call(setOfferStatus, { params: { id }, body: { status: next } })}
        />
        <MenuLine />
        <DeleteItem
          name={name}
          what="offer"
          endpoint={deleteOffer}
          refresh={[listOffers, listFunnels]}
          words="Campaigns that name it send visitors to their fallback, funnels to their other offers. Clicks made before keep it, so their late conversions still earn."
          deed={() => call(deleteOffer, { params: { id } })}
        />
      </RowMenu>
      <OfferDialog offer={offer} open={editing} onClose={() => setEditing(false)} />
    </>
  )
}

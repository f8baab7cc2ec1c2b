/** The list of offers: payout, address and figures. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pencil, Tag } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { z } from 'zod'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { changeOffers } from '../../../people/bulk/api.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import {
  createOffer,
  deleteOffer,
  exportOffers,
  listOffers,
  OFFER_STATUSES,
  type Offer,
  setOfferStatus,
} from '../../../traffic/offers/api.ts'
import { ask, call } from '../../ground/call.ts'
import { day, exactMoney, NONE } from '../../ground/figures/figures.ts'
import { FiguredTable, NO_FIGURES, useListFigures } from '../../ground/figures/list-figures.tsx'
import { boundsOf } from '../../ground/figures/window.ts'
import { inWords } from '../../ground/rungs.ts'
import { HistoryItem } from '../../ground/history/object-history.tsx'
import type { ActType } from '../../ground/many/acts.ts'
import { SelectBox } from '../../ground/many/selection.tsx'
import { TagDots } from '../../ground/many/tag-dots.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { CloneItem } from '../../ground/ui/clone.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { ListPage, NameAndStatus, OpenName } from '../../ground/ui/list-page.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { ArchiveItem, DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { ActionCell, Cell, Head, Row, RowHead } from '../../ground/ui/table.tsx'
import { ReachedBadge } from '../caps/reached-badge.tsx'
import { offerReach } from './leading-campaigns.tsx'
import { OfferDialog } from './offer-dialog.tsx'

type OfferRow = z.input<typeof Offer>

const route = getRouteApi('/inside/offers')

const ACTS: readonly ActType[] = ['archive', 'tag', 'untag', 'resume', 'clone']

export function OffersPage() {
  const { address, query, days, sorting, controls } = useListFigures(useListAddress(route.useSearch()))
  const offers = useQuery({ ...ask(listOffers, { query }), placeholderData: keepPreviousData })
  const report = useQuery(ask(readReportAsMember, { query: { dimension: 'offer', ...boundsOf(days) } }))
  const figures =
    report.data === undefined
      ? NO_FIGURES
      : ({ rows: report.data.rows, missing: report.data.truncated ? 'unknown' : 'zero' } as const)
  return (
    <ListPage
      title="Offers"
      words="An offer’s payout is used when the postback has no payout."
      filters={
        <>
          <NameAndStatus address={address} statuses={OFFER_STATUSES} />
          {controls}
          <SaveCsv
            endpoint={exportOffers}
            picked={{ filter: { q: address.search.q, status: address.search.status, tag_id: address.search.tag } }}
            name="offers"
          />
        </>
      }
      query={offers}
      address={address}
      empty={{ icon: Tag, words: 'Add what you promote and its payout, then choose it in a campaign.' }}
      add={{
        endpoint: createOffer,
        words: 'New offer',
        dialog: dialog => <OfferDialog offer={undefined} {...dialog} />,
      }}
    >
      {rows => (
        <>
          <RefusalNote refused={report.error} className="mb-3" />
          <FiguredTable
            caption="Offers"
            rows={rows}
            figures={figures}
            sorting={sorting}
            isWhole={address.search.cursor === undefined && offers.data?.next_cursor === null}
            heads={HEADS}
            many={{ endpoint: changeOffers, what: 'offers', acts: ACTS, query }}
          >
            {(offer, cells) => <OfferLine key={offer.id} offer={offer} figures={cells} />}
          </FiguredTable>
        </>
      )}
    </ListPage>
  )
}

const HEADS = [
  <Head key="payout" numeric>
    Payout, $
  </Head>,
  <Head key="earned">Pays on</Head>,
  <Head key="status">Status</Head>,
  <Head key="address">Address</Head>,
  <Head key="campaigns" numeric>
    Campaigns
  </Head>,
  <Head key="created">Created</Head>,
]

const payoutOf = (payout: string, currency: string | null) =>
  currency === null ? exactMoney(payout) : `${exactMoney(payout)} ${currency}`

function OfferLine({ offer, figures }: { offer: OfferRow; figures: ReactNode }) {
  const [editing, setEditing] = useState(false)
  return (
    <Row className={offer.status === 'archived' ? 'text-ink-faint' : ''}>
      <RowHead stay className="max-w-36 truncate sm:max-w-60" title={offer.name}>
        <SelectBox id={offer.id} name={offer.name} />
        <OpenName onOpen={() => setEditing(true)}>{offer.name}</OpenName>
        <TagDots ids={offer.tag_ids} />
      </RowHead>
      {figures}
      <Cell numeric>{offer.payout === null ? NONE : payoutOf(offer.payout, offer.payout_currency)}</Cell>
      <Cell className="max-w-48 truncate" title={payingTypes(offer)}>
        {payingTypes(offer)}
      </Cell>
      <Cell>
        <span className="flex gap-1.5">
          <Badge tone={offer.status === 'active' ? 'good' : 'plain'}>{inWords(offer.status)}</Badge>
          <ReachedBadge of={offer.id} />
        </span>
      </Cell>
      <Cell className="max-w-72 truncate font-mono text-sm" title={offer.url}>
        {offer.url}
      </Cell>
      <Cell numeric title={offerReach(offer)}>
        {leadingOf(offer)}
      </Cell>
      <Cell>{day(offer.created_at)}</Cell>
      <ActionCell>
        <OfferMenu offer={offer} onEdit={() => setEditing(true)} />
        <OfferDialog offer={offer} open={editing} onClose={() => setEditing(false)} />
      </ActionCell>
    </Row>
  )
}

/** "3", or "3 + 1 own" if one campaign redirects to its own address. */
function leadingOf({ campaigns: { following, own_address, by_funnel, by_click_flow } }: OfferRow): string {
  const leading = following + by_funnel + by_click_flow
  return own_address === 0 ? String(leading) : `${leading} + ${own_address} own`
}

function payingTypes({ payout, payout_types }: OfferRow): string {
  if (payout === null) return NONE
  return payout_types.length === 0 ? 'Every conversion' : payout_types.map(inWords).join(', ')
}

function OfferMenu({ offer, onEdit }: { offer: OfferRow; onEdit: () => void }) {
  const { id, name, status } = offer
  return (
    <RowMenu name={name}>
      <MenuItem icon={Pencil} onSelect={onEdit}>
        Edit
      </MenuItem>
      <CloneItem id={id} endpoint={createOffer} />
      <HistoryItem kind="offer" id={id} />
      <ArchiveItem
        name={name}
        endpoint={setOfferStatus}
        refresh={[listOffers, listFunnels]}
        status={status}
        words={`It gets no new clicks: campaigns send its visitors to their fallback, funnels to their other offers. Earlier clicks still earn its payout. ${offerReach(offer)}`}
        wordsBack="Campaigns and funnels that use it send visitors to it again."
        deed={next => call(setOfferStatus, { params: { id }, body: { status: next } })}
      />
      <MenuLine />
      <DeleteItem
        name={name}
        what="offer"
        endpoint={deleteOffer}
        refresh={[listOffers, listFunnels]}
        words={`Campaigns send its visitors to their fallback, funnels to their other offers. Late conversions of earlier clicks still earn its payout. ${offerReach(offer)}`}
        deed={() => call(deleteOffer, { params: { id } })}
      />
    </RowMenu>
  )
}

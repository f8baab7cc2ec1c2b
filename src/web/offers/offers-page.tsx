/** Offers: what a conversion pays, and where visitors are sent for it. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Archive, ArchiveRestore, Ellipsis, Pencil, Plus, Tag, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { createOffer, deleteOffer, listOffers, OFFER_STATUSES, type Offer, setOfferStatus } from '../../offers/api.ts'
import { ask, call } from '../call.ts'
import { inWords } from '../feed/rungs.ts'
import { day, exactMoney, NONE } from '../figures.ts'
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { useConfirm } from '../ui/confirm.tsx'
import { SelectField } from '../ui/field.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { Asked, EmptyState, PageHeader } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { notify } from '../ui/toast.tsx'
import { OfferDialog } from './offer-dialog.tsx'

type OfferRow = z.input<typeof Offer>

const route = getRouteApi('/inside/offers')

export function OffersPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/offers' })
  const { role } = useActive()
  const [creating, setCreating] = useState(false)
  const offers = useQuery({ ...ask(listOffers, { query: search }), placeholderData: keepPreviousData })
  const create = (
    <Button look="primary" icon={Plus} reason={reasonAgainst(createOffer, role)} onClick={() => setCreating(true)}>
      New offer
    </Button>
  )
  const isWhole = search.q === undefined && search.status === undefined && search.cursor === undefined
  return (
    <>
      <PageHeader
        title="Offers"
        words="A click earns by its offer: a conversion without a payout of its own takes the offer’s."
      >
        <SearchField
          value={search.q}
          onSeek={q => void navigate({ search: before => ({ ...before, q, cursor: undefined }) })}
        />
        <SelectField
          label="Status"
          hideLabel
          toolbar
          className="min-w-32"
          value={search.status ?? ''}
          onChange={event => {
            const status = OFFER_STATUSES.find(one => one === event.target.value)
            void navigate({ search: before => ({ ...before, status, cursor: undefined }) })
          }}
        >
          <option value="">Any status</option>
          <option value="active">Active</option>
          <option value="archived">Archived</option>
        </SelectField>
        {create}
      </PageHeader>
      <Asked query={offers}>
        {({ data, next_cursor }) =>
          data.length === 0 && isWhole ? (
            <EmptyState
              icon={Tag}
              title="No offers yet"
              words="Add what you promote with its payout, and attach it to campaigns."
            >
              {create}
            </EmptyState>
          ) : (
            <>
              <OfferTable offers={data} />
              <Pager
                cursor={search.cursor}
                next={next_cursor}
                onGo={cursor => void navigate({ search: before => ({ ...before, cursor }) })}
              />
            </>
          )
        }
      </Asked>
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
          <Head>
            <span className="sr-only">Actions</span>
          </Head>
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
        {offers.length === 0 && (
          <Row>
            <Cell colSpan={7} faint>
              No offer is found.
            </Cell>
          </Row>
        )}
      </tbody>
    </Table>
  )
}

function OfferMenu({ offer }: { offer: OfferRow }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  const { role } = useActive()
  const [editing, setEditing] = useState(false)
  const told = async (news: string) => {
    await queries.invalidateQueries({ queryKey: [listOffers.route] })
    notify(news)
  }
  const isActive = offer.status === 'active'
  const turn = () =>
    confirm({
      title: isActive ? `Archive ${offer.name}?` : `Unarchive ${offer.name}?`,
      words: isActive
        ? 'It gets no new clicks: campaigns that name it send visitors to their fallback, funnels to their other offers. Clicks it already has keep earning its payout.'
        : 'Campaigns and funnels that name it send visitors to it again.',
      action: isActive ? 'Archive' : 'Unarchive',
      look: 'primary',
      deed: async () => {
        await call(setOfferStatus, { params: { id: offer.id }, body: { status: isActive ? 'archived' : 'active' } })
        await told(`${offer.name} is ${isActive ? 'archived' : 'active again'}`)
      },
    })
  const remove = () =>
    confirm({
      title: `Delete ${offer.name}?`,
      words:
        'Campaigns that name it send visitors to their fallback, funnels to their other offers. Clicks made before keep it, so their late conversions still earn.',
      action: 'Delete offer',
      deed: async () => {
        await call(deleteOffer, { params: { id: offer.id } })
        await told(`${offer.name} is deleted`)
      },
    })
  return (
    <>
      <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${offer.name}`} size="sm" />}>
        <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
          Edit
        </MenuItem>
        <MenuItem
          icon={isActive ? Archive : ArchiveRestore}
          reason={reasonAgainst(setOfferStatus, role)}
          onSelect={turn}
        >
          {isActive ? 'Archive' : 'Unarchive'}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Trash2} danger reason={reasonAgainst(deleteOffer, role)} onSelect={remove}>
          Delete
        </MenuItem>
      </Menu>
      <OfferDialog offer={offer} open={editing} onClose={() => setEditing(false)} />
    </>
  )
}

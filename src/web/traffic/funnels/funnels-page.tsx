/** The list of funnels: the landings and offers that share visitors by weight, and figures. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Funnel as FunnelIcon, Pencil, Split } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { z } from 'zod'
import { changeFunnels } from '../../../people/bulk/api.ts'
import { listCampaigns } from '../../../traffic/campaigns/api.ts'
import { createFunnel, deleteFunnel, type Funnel, exportFunnels, listFunnels } from '../../../traffic/funnels/api.ts'
import { ask, call } from '../../ground/call.ts'
import { day, percent } from '../../ground/figures/figures.ts'
import { FiguredTable, useListFigures } from '../../ground/figures/list-figures.tsx'
import { HistoryItem } from '../../ground/history/object-history.tsx'
import type { ActType } from '../../ground/many/acts.ts'
import { SelectBox } from '../../ground/many/selection.tsx'
import { TagDots } from '../../ground/many/tag-dots.tsx'
import { CloneItem } from '../../ground/ui/clone.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { ListPage, OpenName } from '../../ground/ui/list-page.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ActionCell, Cell, Head, Row, RowHead } from '../../ground/ui/table.tsx'
import { LedWords, useLedFigures } from '../campaigns/led-figures.tsx'
import { FunnelDialog } from './funnel-dialog.tsx'
import { memberShare } from './members-field.tsx'

type FunnelRow = z.input<typeof Funnel>

const route = getRouteApi('/inside/funnels')

const ACTS: readonly ActType[] = ['tag', 'untag', 'replace_offer', 'clone']

export function FunnelsPage() {
  const { address, query, days, sorting, controls } = useListFigures(useListAddress(route.useSearch()))
  const { search, narrow } = address
  const funnels = useQuery({ ...ask(listFunnels, { query }), placeholderData: keepPreviousData })
  const { figures, error } = useLedFigures('funnel', days)
  return (
    <ListPage
      title="Funnels"
      words="Each visitor gets one landing and one offer, and the same ones on later visits."
      filters={
        <>
          <SearchField value={search.q} onSeek={q => narrow({ q })} />
          {controls}
          <SaveCsv endpoint={exportFunnels} picked={{ filter: { q: search.q, tag_id: search.tag } }} name="funnels" />
        </>
      }
      query={funnels}
      address={address}
      empty={{
        icon: FunnelIcon,
        words: 'Combine landings and offers with weights, then choose the funnel in a campaign.',
      }}
      add={{
        endpoint: createFunnel,
        words: 'New funnel',
        dialog: dialog => <FunnelDialog funnel={undefined} {...dialog} />,
      }}
    >
      {rows => (
        <>
          <LedWords error={error} />
          <FiguredTable
            caption="Funnels"
            rows={rows}
            figures={figures}
            sorting={sorting}
            isWhole={search.cursor === undefined && funnels.data?.next_cursor === null}
            heads={HEADS}
            many={{ endpoint: changeFunnels, what: 'funnels', acts: ACTS, query }}
          >
            {(funnel, cells) => <FunnelLine key={funnel.id} funnel={funnel} figures={cells} />}
          </FiguredTable>
        </>
      )}
    </ListPage>
  )
}

const HEADS = [
  <Head key="landings">Landings</Head>,
  <Head key="offers">Offers</Head>,
  <Head key="created">Created</Head>,
]

type MemberRow = { id: string; weight: number; name: string; status: string }

function Members({ members }: { members: readonly MemberRow[] }) {
  const open = new Set(members.filter(({ status }) => status === 'active').map(({ id }) => id))
  if (members.length === 0) return <span className="text-ink-faint">None</span>
  return (
    <ul className="flex flex-wrap gap-x-3 py-1">
      {members.map(member => (
        <li key={member.id} className={open.has(member.id) ? '' : 'text-ink-faint'}>
          {member.name}{' '}
          <span className="text-sm text-ink-faint tabular-nums">
            {open.has(member.id) ? percent(memberShare(member, members, id => open.has(id))) : member.status}
          </span>
        </li>
      ))}
    </ul>
  )
}

function FunnelLine({ funnel, figures }: { funnel: FunnelRow; figures: ReactNode }) {
  const [editing, setEditing] = useState(false)
  return (
    <Row>
      <RowHead stay className="max-w-36 truncate sm:max-w-60" title={funnel.name}>
        <SelectBox id={funnel.id} name={funnel.name} />
        <OpenName onOpen={() => setEditing(true)}>{funnel.name}</OpenName>
        <TagDots ids={funnel.tag_ids} />
      </RowHead>
      {figures}
      <Cell className="min-w-52 whitespace-normal!">
        <Members members={funnel.landings.map(member => ({ ...member, id: member.landing_id }))} />
      </Cell>
      <Cell className="min-w-52 whitespace-normal!">
        <Members members={funnel.offers.map(member => ({ ...member, id: member.offer_id }))} />
      </Cell>
      <Cell>{day(funnel.created_at)}</Cell>
      <ActionCell>
        <FunnelMenu funnel={funnel} onEdit={() => setEditing(true)} />
        <FunnelDialog funnel={funnel} open={editing} onClose={() => setEditing(false)} />
      </ActionCell>
    </Row>
  )
}

function FunnelMenu({ funnel, onEdit }: { funnel: FunnelRow; onEdit: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { id, name } = funnel
  const consequences = async () => {
    const { data } = await queries.fetchQuery(
      ask(listCampaigns, { query: { funnel_id: id, status: 'all', limit: 200 } }),
    )
    if (data.length === 0) return 'No campaign leads to it. This cannot be undone.'
    const campaignNames = data.map(campaign => campaign.name).join(', ')
    return `${campaignNames}: visitors will go to the fallback. This cannot be undone.`
  }
  return (
    <RowMenu name={name}>
      <MenuItem icon={Pencil} onSelect={onEdit}>
        Edit
      </MenuItem>
      <CloneItem id={id} endpoint={createFunnel} />
      <MenuItem icon={Split} onSelect={() => void navigate({ to: '/funnels/$id/tests', params: { id } })}>
        Split tests
      </MenuItem>
      <HistoryItem kind="funnel" id={id} />
      <MenuLine />
      <DeleteItem
        name={name}
        what="funnel"
        endpoint={deleteFunnel}
        refresh={[listFunnels]}
        words={consequences}
        deed={() => call(deleteFunnel, { params: { id } })}
      />
    </RowMenu>
  )
}

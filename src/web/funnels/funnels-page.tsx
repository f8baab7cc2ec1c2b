/** Funnels: which landings and offers share visitors, and in what proportion. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Ellipsis, Funnel as FunnelIcon, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { listCampaigns } from '../../campaigns/api.ts'
import { createFunnel, deleteFunnel, type Funnel, listFunnels } from '../../funnels/api.ts'
import { ask, call } from '../call.ts'
import { day, percent } from '../figures.ts'
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { useConfirm } from '../ui/confirm.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { Asked, EmptyState, PageHeader } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { notify } from '../ui/toast.tsx'
import { FunnelDialog } from './funnel-dialog.tsx'
import { shareOf } from './members-field.tsx'

type FunnelRow = z.input<typeof Funnel>

const route = getRouteApi('/inside/funnels')

export function FunnelsPage() {
  const { q, cursor } = route.useSearch()
  const navigate = useNavigate({ from: '/funnels' })
  const { role } = useActive()
  const [creating, setCreating] = useState(false)
  const query = { ...(q === undefined ? {} : { q }), ...(cursor === undefined ? {} : { cursor }) }
  const funnels = useQuery({ ...ask(listFunnels, { query }), placeholderData: keepPreviousData })
  const create = (
    <Button look="primary" icon={Plus} reason={reasonAgainst(createFunnel, role)} onClick={() => setCreating(true)}>
      New funnel
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Funnels"
        words="A visitor gets one landing and then one offer, and keeps both when he comes again."
      >
        <SearchField value={q} onSeek={sought => void navigate({ search: { q: sought } })} />
        {create}
      </PageHeader>
      <Asked query={funnels}>
        {({ data, next_cursor }) =>
          data.length === 0 && q === undefined && cursor === undefined ? (
            <EmptyState
              icon={FunnelIcon}
              title="No funnels yet"
              words="Put landings and offers together, weigh them, and let a campaign lead to the funnel."
            >
              {create}
            </EmptyState>
          ) : (
            <>
              <FunnelTable funnels={data} />
              <Pager cursor={cursor} next={next_cursor} onGo={to => void navigate({ search: { q, cursor: to } })} />
            </>
          )
        }
      </Asked>
      <FunnelDialog funnel={undefined} open={creating} onClose={() => setCreating(false)} />
    </>
  )
}

function FunnelTable({ funnels }: { funnels: readonly FunnelRow[] }) {
  return (
    <Table caption="Funnels">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>Landings</Head>
          <Head>Offers</Head>
          <Head>Created</Head>
          <Head>
            <span className="sr-only">Actions</span>
          </Head>
        </tr>
      </thead>
      <tbody>
        {funnels.map(funnel => (
          <Row key={funnel.id}>
            <RowHead stay className="max-w-36 truncate sm:max-w-60" title={funnel.name}>
              {funnel.name}
            </RowHead>
            <Cell className="whitespace-normal!">
              <Members members={funnel.landings.map(member => ({ ...member, id: member.landing_id }))} />
            </Cell>
            <Cell className="whitespace-normal!">
              <Members members={funnel.offers.map(member => ({ ...member, id: member.offer_id }))} />
            </Cell>
            <Cell>{day(funnel.created_at)}</Cell>
            <Cell className="pr-1! text-right">
              <FunnelMenu funnel={funnel} />
            </Cell>
          </Row>
        ))}
        {funnels.length === 0 && (
          <Row>
            <Cell colSpan={5} faint>
              No funnel is found.
            </Cell>
          </Row>
        )}
      </tbody>
    </Table>
  )
}

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
            {open.has(member.id) ? percent(shareOf(member, members, id => open.has(id))) : member.status}
          </span>
        </li>
      ))}
    </ul>
  )
}

function FunnelMenu({ funnel }: { funnel: FunnelRow }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  const { role } = useActive()
  const [editing, setEditing] = useState(false)
  const remove = async () => {
    const { data } = await queries.fetchQuery(ask(listCampaigns, { query: { funnel_id: funnel.id, limit: 200 } }))
    confirm({
      title: `Delete ${funnel.name}?`,
      words:
        data.length === 0
          ? 'No campaign leads to it. It cannot be brought back.'
          : `${data.map(({ name }) => name).join(', ')}: visitors go to the fallback from then on. It cannot be brought back.`,
      action: 'Delete funnel',
      deed: async () => {
        await call(deleteFunnel, { params: { id: funnel.id } })
        await queries.invalidateQueries({ queryKey: [listFunnels.route] })
        notify(`${funnel.name} is deleted`)
      },
    })
  }
  return (
    <>
      <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${funnel.name}`} size="sm" />}>
        <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
          Edit
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Trash2} danger reason={reasonAgainst(deleteFunnel, role)} onSelect={() => void remove()}>
          Delete
        </MenuItem>
      </Menu>
      <FunnelDialog funnel={funnel} open={editing} onClose={() => setEditing(false)} />
    </>
  )
}

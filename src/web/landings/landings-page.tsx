/** Landings: the pages visitors see before an offer, and what to put on them. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { AppWindow, Archive, ArchiveRestore, Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { listFunnels } from '../../funnels/api.ts'
import {
  createLanding,
  deleteLanding,
  type Landing,
  LANDING_STATUSES,
  listLandings,
  setLandingStatus,
} from '../../landings/api.ts'
import { ask, call } from '../call.ts'
import { inWords } from '../feed/rungs.ts'
import { day } from '../figures.ts'
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
import { LandingDialog } from './landing-dialog.tsx'
import { OnThePage } from './on-the-page.tsx'

type LandingRow = z.input<typeof Landing>

const route = getRouteApi('/inside/landings')

export function LandingsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/landings' })
  const { role } = useActive()
  const [creating, setCreating] = useState(false)
  const landings = useQuery({ ...ask(listLandings, { query: search }), placeholderData: keepPreviousData })
  const create = (
    <Button look="primary" icon={Plus} reason={reasonAgainst(createLanding, role)} onClick={() => setCreating(true)}>
      New landing
    </Button>
  )
  const isWhole = search.q === undefined && search.status === undefined && search.cursor === undefined
  return (
    <>
      <PageHeader
        title="Landings"
        words="Pages of yours that visitors see before an offer. A funnel shares visitors among them."
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
            const status = LANDING_STATUSES.find(one => one === event.target.value)
            void navigate({ search: before => ({ ...before, status, cursor: undefined }) })
          }}
        >
          <option value="">Any status</option>
          <option value="active">Active</option>
          <option value="archived">Archived</option>
        </SelectField>
        {create}
      </PageHeader>
      <Asked query={landings}>
        {({ data, next_cursor }) =>
          data.length === 0 && isWhole ? (
            <EmptyState
              icon={AppWindow}
              title="No landings yet"
              words="Add a page that stands on your server, then put it into a funnel with an offer."
            >
              {create}
            </EmptyState>
          ) : (
            <>
              <LandingTable landings={data} />
              <Pager
                cursor={search.cursor}
                next={next_cursor}
                onGo={cursor => void navigate({ search: before => ({ ...before, cursor }) })}
              />
            </>
          )
        }
      </Asked>
      <OnThePage />
      <LandingDialog landing={undefined} open={creating} onClose={() => setCreating(false)} />
    </>
  )
}

function LandingTable({ landings }: { landings: readonly LandingRow[] }) {
  return (
    <Table caption="Landings">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>Status</Head>
          <Head>Address</Head>
          <Head>Created</Head>
          <Head>
            <span className="sr-only">Actions</span>
          </Head>
        </tr>
      </thead>
      <tbody>
        {landings.map(landing => (
          <Row key={landing.id} className={landing.status === 'archived' ? 'text-ink-faint' : ''}>
            <RowHead stay className="max-w-36 truncate sm:max-w-60" title={landing.name}>
              {landing.name}
            </RowHead>
            <Cell>
              <Badge tone={landing.status === 'active' ? 'good' : 'plain'}>{inWords(landing.status)}</Badge>
            </Cell>
            <Cell className="max-w-96 truncate font-mono text-sm" title={landing.url}>
              {landing.url}
            </Cell>
            <Cell>{day(landing.created_at)}</Cell>
            <Cell className="pr-1! text-right">
              <LandingMenu landing={landing} />
            </Cell>
          </Row>
        ))}
        {landings.length === 0 && (
          <Row>
            <Cell colSpan={5} faint>
              No landing is found.
            </Cell>
          </Row>
        )}
      </tbody>
    </Table>
  )
}

function LandingMenu({ landing }: { landing: LandingRow }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  const { role } = useActive()
  const [editing, setEditing] = useState(false)
  const told = async (news: string) => {
    await Promise.all(
      [listLandings, listFunnels].map(({ route: key }) => queries.invalidateQueries({ queryKey: [key] })),
    )
    notify(news)
  }
  const isActive = landing.status === 'active'
  const turn = () =>
    confirm({
      title: isActive ? `Archive ${landing.name}?` : `Unarchive ${landing.name}?`,
      words: isActive
        ? 'It gets no new visitors: funnels send them to their other landings, or straight to an offer. Who is on the page already still comes to the offer.'
        : 'The funnels it is in send visitors to it again.',
      action: isActive ? 'Archive' : 'Unarchive',
      look: 'primary',
      deed: async () => {
        await call(setLandingStatus, { params: { id: landing.id }, body: { status: isActive ? 'archived' : 'active' } })
        await told(`${landing.name} is ${isActive ? 'archived' : 'active again'}`)
      },
    })
  const remove = () =>
    confirm({
      title: `Delete ${landing.name}?`,
      words: 'Funnels go on without it. It cannot be brought back.',
      action: 'Delete landing',
      deed: async () => {
        await call(deleteLanding, { params: { id: landing.id } })
        await told(`${landing.name} is deleted`)
      },
    })
  return (
    <>
      <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${landing.name}`} size="sm" />}>
        <MenuItem icon={Pencil} onSelect={() => setEditing(true)}>
          Edit
        </MenuItem>
        <MenuItem
          icon={isActive ? Archive : ArchiveRestore}
          reason={reasonAgainst(setLandingStatus, role)}
          onSelect={turn}
        >
          {isActive ? 'Archive' : 'Unarchive'}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Trash2} danger reason={reasonAgainst(deleteLanding, role)} onSelect={remove}>
          Delete
        </MenuItem>
      </Menu>
      <LandingDialog landing={landing} open={editing} onClose={() => setEditing(false)} />
    </>
  )
}

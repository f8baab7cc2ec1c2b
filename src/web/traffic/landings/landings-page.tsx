/** The list of landings, with figures, and the code to put on a landing page. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { AppWindow, Pencil } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { z } from 'zod'
import { MOST_CLICKS_READ, readLandingFigures } from '../../../reading/figures/api.ts'
import { changeLandings } from '../../../people/bulk/api.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import {
  createLanding,
  deleteLanding,
  LANDING_STATUSES,
  type Landing,
  exportLandings,
  listLandings,
  setLandingStatus,
} from '../../../traffic/landings/api.ts'
import { ask, call } from '../../ground/call.ts'
import { count, day } from '../../ground/figures/figures.ts'
import { FiguredTable, NO_FIGURES, useListFigures } from '../../ground/figures/list-figures.tsx'
import { daysOrBoundsOf } from '../../ground/figures/window.ts'
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
import { LandingDialog } from './landing-dialog.tsx'
import { OnThePage } from './on-the-page.tsx'

type LandingRow = z.input<typeof Landing>

const route = getRouteApi('/inside/landings')

const ACTS: readonly ActType[] = ['archive', 'tag', 'untag', 'resume', 'clone']

export function LandingsPage() {
  const { address, query, days, sorting, controls } = useListFigures(useListAddress(route.useSearch()))
  const landings = useQuery({ ...ask(listLandings, { query }), placeholderData: keepPreviousData })
  const counted = useQuery(ask(readLandingFigures, { query: daysOrBoundsOf(days) }))
  const figures = counted.data?.is_counted ? ({ rows: counted.data.rows, missing: 'zero' } as const) : NO_FIGURES
  return (
    <ListPage
      title="Landings"
      words="Your pages that visitors see before an offer. A funnel splits visitors among them."
      filters={
        <>
          <NameAndStatus address={address} statuses={LANDING_STATUSES} />
          {controls}
          <SaveCsv
            endpoint={exportLandings}
            picked={{ filter: { q: address.search.q, status: address.search.status, tag_id: address.search.tag } }}
            name="landings"
          />
        </>
      }
      query={landings}
      address={address}
      empty={{
        icon: AppWindow,
        words: 'Add a page on your server, then put it into a funnel with an offer.',
      }}
      add={{
        endpoint: createLanding,
        words: 'New landing',
        dialog: dialog => <LandingDialog landing={undefined} {...dialog} />,
      }}
      below={<OnThePage />}
    >
      {rows => (
        <>
          <RefusalNote refused={counted.error} className="mb-3" />
          {counted.data !== undefined && <CountedDaysNote counted={counted.data} from={days.from} />}
          <FiguredTable
            caption="Landings"
            rows={rows}
            figures={figures}
            sorting={sorting}
            isWhole={address.search.cursor === undefined && landings.data?.next_cursor === null}
            heads={HEADS}
            many={{ endpoint: changeLandings, what: 'landings', acts: ACTS, query }}
          >
            {(landing, cells) => <LandingLine key={landing.id} landing={landing} figures={cells} />}
          </FiguredTable>
        </>
      )}
    </ListPage>
  )
}

type Counted = z.input<(typeof readLandingFigures)['reply']>

/** Shown if the figures do not cover all of the chosen days. */
function CountedDaysNote({ counted, from }: { counted: Counted; from: string }) {
  if (counted.is_counted && counted.date_from <= from) return null
  return (
    <p className="mb-3 text-sm text-ink-soft">
      {counted.is_counted
        ? `Clicks before ${day(counted.date_from)} are no longer stored, so figures of landings begin there.`
        : `These days have more than ${count(MOST_CLICKS_READ)} clicks, too many to count by landing. Choose fewer days to see figures.`}
    </p>
  )
}

const HEADS = [<Head key="status">Status</Head>, <Head key="address">Address</Head>, <Head key="created">Created</Head>]

function LandingLine({ landing, figures }: { landing: LandingRow; figures: ReactNode }) {
  const [editing, setEditing] = useState(false)
  return (
    <Row className={landing.status === 'archived' ? 'text-ink-faint' : ''}>
      <RowHead stay className="max-w-36 truncate sm:max-w-60" title={landing.name}>
        <SelectBox id={landing.id} name={landing.name} />
        <OpenName onOpen={() => setEditing(true)}>{landing.name}</OpenName>
        <TagDots ids={landing.tag_ids} />
      </RowHead>
      {figures}
      <Cell>
        <Badge tone={landing.status === 'active' ? 'good' : 'plain'}>{inWords(landing.status)}</Badge>
      </Cell>
      <Cell className="max-w-96 truncate font-mono text-sm" title={landing.url}>
        {landing.url}
      </Cell>
      <Cell>{day(landing.created_at)}</Cell>
      <ActionCell>
        <LandingMenu landing={landing} onEdit={() => setEditing(true)} />
        <LandingDialog landing={landing} open={editing} onClose={() => setEditing(false)} />
      </ActionCell>
    </Row>
  )
}

function LandingMenu({ landing, onEdit }: { landing: LandingRow; onEdit: () => void }) {
  const { id, name, status } = landing
  return (
    <RowMenu name={name}>
      <MenuItem icon={Pencil} onSelect={onEdit}>
        Edit
      </MenuItem>
      <CloneItem id={id} endpoint={createLanding} />
      <HistoryItem kind="landing" id={id} />
      <ArchiveItem
        name={name}
        endpoint={setLandingStatus}
        refresh={[listLandings, listFunnels]}
        status={status}
        words="It gets no new visitors: funnels send them to their other landings, or straight to an offer. Visitors who are on the page already can still go on to the offer."
        wordsBack="Its funnels send visitors to it again."
        deed={next => call(setLandingStatus, { params: { id }, body: { status: next } })}
      />
      <MenuLine />
      <DeleteItem
        name={name}
        what="landing"
        endpoint={deleteLanding}
        refresh={[listLandings, listFunnels]}
        words="Its funnels continue without it. This cannot be undone."
        deed={() => call(deleteLanding, { params: { id } })}
      />
    </RowMenu>
  )
}

/** Refused conversions: what was not recorded, why, and running it again after a fix. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ShieldQuestion } from 'lucide-react'
import { useState } from 'react'
import { DIAGNOSES, Diagnosis, type Fault } from '../../../contract/diagnoses.ts'
import {
  exportRefusedEvents,
  listRefusedEvents,
  RefusedState,
  RefusedSurface,
} from '../../../intake/refused-events/api.ts'
import { ask } from '../../ground/call.ts'
import { exactMoment, NONE } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { zoneWords } from '../../ground/zone.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { useNetworkNames } from '../networks/names.ts'
import { Details, isWorthNothing, type RefusedRow, SURFACES } from './details.tsx'
import { RunAll } from './run-all.tsx'

const route = getRouteApi('/inside/refused-events')

export function RefusedEventsPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const filters = { q: search.q, diagnosis: search.diagnosis, surface: search.surface, network_id: search.network }
  const refused = useQuery({
    ...ask(listRefusedEvents, { query: { ...filters, state: search.state, cursor: search.cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader
        title="Refused"
        words="Conversions that were not recorded, or were recorded but earn nothing. Kept for 30 days. After you fix the cause, conversions that were not recorded can be run again."
      >
        <SearchField value={search.q} onSeek={q => narrow({ q })} />
        <Choice
          label="Why"
          any="Any reason"
          options={Diagnosis.options}
          words={one => DIAGNOSES[one].words}
          value={search.diagnosis}
          onChange={diagnosis => narrow({ diagnosis })}
        />
        <Choice
          label="From"
          any="From anywhere"
          options={RefusedSurface.options}
          words={one => SURFACES[one]}
          value={search.surface}
          onChange={surface => narrow({ surface })}
        />
        <NetworkChoice network={search.network} onChange={network => narrow({ network })} />
        <Choice
          label="State"
          any="Any state"
          options={RefusedState.options}
          words={inWords}
          value={search.state}
          onChange={state => narrow({ state })}
        />
        <SaveCsv endpoint={exportRefusedEvents} query={{ ...filters, state: search.state }} name="refused" />
        <RunAll filters={filters} />
      </PageHeader>
      <List
        query={refused}
        address={address}
        what="refused conversions"
        empty={
          <EmptyState
            icon={ShieldQuestion}
            title="Nothing was refused"
            words="Conversions that Sluice cannot record appear here with the reason."
          />
        }
      >
        {rows => <RefusedTable rows={rows} />}
      </List>
    </>
  )
}

type NetworkChoiceProps = { network: string | undefined; onChange: (id: string | undefined) => void }

function NetworkChoice({ network, onChange }: NetworkChoiceProps) {
  const names = useNetworkNames()
  if (names.size === 0) return null
  return (
    <Choice
      label="Network"
      any="Any network"
      options={[...names.keys()]}
      words={id => names.get(id) ?? id}
      value={network}
      onChange={onChange}
    />
  )
}

function RefusedTable({ rows }: { rows: readonly RefusedRow[] }) {
  const [opened, setOpened] = useState<RefusedRow>()
  return (
    <>
      <Table caption="Refused intake">
        <thead>
          <tr>
            <Head stay>{`Time (${zoneWords()})`}</Head>
            <Head>Why</Head>
            <Head>State</Head>
            <Head>From</Head>
            <Head>Type or status</Head>
            <Head>Click id as sent</Head>
            <Head>Error</Head>
            <ActionHead>Details</ActionHead>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <Row key={row.id}>
              <RowHead stay className="font-normal!">
                {exactMoment(row.received_at)}
              </RowHead>
              <Cell className="font-medium">{DIAGNOSES[row.diagnosis].words}</Cell>
              <Cell>
                <RefusedBadge row={row} />
              </Cell>
              <Cell>{SURFACES[row.surface]}</Cell>
              <Cell className="max-w-40 truncate" faint={row.type === null}>
                {row.type ?? NONE}
              </Cell>
              <Cell
                className="max-w-64 truncate font-mono text-sm"
                faint={row.click_text === null}
                title={row.click_text ?? undefined}
              >
                <ClickText row={row} />
              </Cell>
              <Cell className="max-w-72 truncate" title={row.error}>
                {row.error}
              </Cell>
              <ActionCell>
                <Button
                  size="sm"
                  look="quiet"
                  aria-label={`Details of what was refused at ${exactMoment(row.received_at)}`}
                  onClick={() => setOpened(row)}
                >
                  Details
                </Button>
              </ActionCell>
            </Row>
          ))}
        </tbody>
      </Table>
      <Dialog
        open={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={opened === undefined ? '' : DIAGNOSES[opened.diagnosis].words}
        width="wide"
      >
        {opened !== undefined && <Details row={opened} onRan={setOpened} onClose={() => setOpened(undefined)} />}
      </Dialog>
    </>
  )
}

/** The colour says who can fix it, so that what this workspace must fix stands out. */
const FAULTS: Record<Fault, { tone: Tone; title: string }> = {
  yours: { tone: 'bad', title: 'Needs a fix in this workspace' },
  sender: { tone: 'warn', title: 'Needs a fix at the sender' },
  nobody: { tone: 'plain', title: 'Needs no fix' },
}

function RefusedBadge({ row }: { row: RefusedRow }) {
  if (row.state === 'recorded' && !isWorthNothing(row)) return <Badge tone="good">{inWords(row.state)}</Badge>
  const { tone, title } = FAULTS[DIAGNOSES[row.diagnosis].fault]
  return (
    <Badge tone={tone} title={title}>
      {inWords(row.state)}
    </Badge>
  )
}

function ClickText({ row }: { row: RefusedRow }) {
  if (row.click_text === null) return NONE
  if (row.click_id === null) return row.click_text
  return (
    <Link to="/clicks/$id" params={{ id: row.click_id }} className="text-accent hover:underline">
      {row.click_text}
    </Link>
  )
}

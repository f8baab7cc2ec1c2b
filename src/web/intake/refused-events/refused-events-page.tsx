/** Refused intake: what was not recorded, why, and running it again after a fix. */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { RotateCcw, ShieldQuestion } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import {
  DIAGNOSES,
  Diagnosis,
  listRefusedEvents,
  RefusedState,
  RefusedSurface,
  runRefusedEvents,
} from '../../../intake/refused-events/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count, exactMoment, NONE } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useNetworkNames } from '../networks/names.ts'
import { Details, type RefusedRow, SURFACES } from './details.tsx'

const route = getRouteApi('/inside/refused-events')

export function RefusedEventsPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const filters = { diagnosis: search.diagnosis, surface: search.surface, network_id: search.network }
  const refused = useQuery({
    ...ask(listRefusedEvents, { query: { ...filters, state: search.state, cursor: search.cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader
        title="Refused"
        words="Conversions that were sent and not recorded, kept 30 days. After a fix they are run again, each once."
      >
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
            words="What networks and servers send and Sluice cannot record appears here with its reason."
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

type Filters = {
  diagnosis: z.infer<typeof Diagnosis> | undefined
  surface: RefusedRow['surface'] | undefined
  network_id: string | undefined
}

/** Runs portion after portion until there is none left. */
async function runAll(filters: Filters): Promise<{ recorded: number; refused: number }> {
  const sum = { recorded: 0, refused: 0 }
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const ran = await call(runRefusedEvents, { body: { ...filters, cursor } })
    sum.recorded += ran.recorded
    sum.refused += ran.refused
    cursor = ran.next_cursor
  }
  return sum
}

function RunAll({ filters }: { filters: Filters }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  const { role } = useActive()
  const run = () =>
    confirm({
      title: 'Run these again?',
      words:
        'Everything refused that the filters show is tried again. What is recorded now is charged, forwarded and sent to postbacks like any conversion, and dated now.',
      action: 'Run again',
      look: 'primary',
      deed: async () => {
        const { recorded, refused } = await runAll(filters)
        await queries.invalidateQueries({ queryKey: [listRefusedEvents.route] })
        notify(
          `${count(recorded)} recorded`,
          refused === 0 ? 'Nothing stays refused.' : `${count(refused)} stay refused.`,
        )
      },
    })
  return (
    <Button icon={RotateCcw} reason={reasonAgainst(runRefusedEvents, role)} onClick={run}>
      Run all again
    </Button>
  )
}

function RefusedTable({ rows }: { rows: readonly RefusedRow[] }) {
  const [shown, setShown] = useState<RefusedRow>()
  return (
    <>
      <Table caption="Refused intake">
        <thead>
          <tr>
            <Head stay>Time (UTC)</Head>
            <Head>Why</Head>
            <Head>State</Head>
            <Head>From</Head>
            <Head>Type or status</Head>
            <Head>Click id as sent</Head>
            <Head>What was said</Head>
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
                <Badge tone={row.state === 'recorded' ? 'good' : 'warn'}>{inWords(row.state)}</Badge>
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
                  onClick={() => setShown(row)}
                >
                  Details
                </Button>
              </ActionCell>
            </Row>
          ))}
        </tbody>
      </Table>
      <Dialog
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={shown === undefined ? '' : DIAGNOSES[shown.diagnosis].words}
        width="wide"
      >
        {shown !== undefined && <Details row={shown} onRan={setShown} onClose={() => setShown(undefined)} />}
      </Dialog>
    </>
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

/** Deliveries: the calls for each conversion, the state of each, and every attempt. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { RotateCcw, Send } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import {
  type Delivery,
  DeliveryFailure,
  DeliveryState,
  exportDeliveries,
  listDeliveries,
  resendDeliveries,
} from '../../../outgoing/deliveries/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { CampaignChoice } from '../../ground/campaign-choice.tsx'
import { CampaignCell, type CampaignNames } from '../../ground/campaign-name.tsx'
import { ago, exactMoment, moment, NONE } from '../../ground/figures/figures.ts'
import type { DeliveriesSearch } from '../../ground/lists.ts'
import { inWords } from '../../ground/rungs.ts'
import { zoneWords } from '../../ground/zone.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'
import { BetweenDays } from '../../ground/ui/between-days.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { isoDayAfter, isoDayBegins } from '../../ground/ui/period.ts'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { AttemptsDialog } from './attempts-dialog.tsx'
import { RunDialog } from './run-dialog.tsx'
import { RunsNote } from './runs-note.tsx'

type DeliveryRow = z.input<typeof Delivery>

const TONES: Record<DeliveryRow['state'], Tone> = {
  pending: 'accent',
  held: 'warn',
  delivered: 'good',
  failed: 'bad',
  skipped: 'plain',
}
const KINDS: Record<DeliveryRow['kind'], string> = { postback: 'Postback', ad_account: 'Ad account' }

const FAILURES: Record<DeliveryFailure, string> = {
  timeout: 'No answer in time',
  connection: 'No connection',
  blocked: 'Private address',
  redirect: 'Redirect',
  http_4xx: 'HTTP 4xx',
  http_5xx: 'HTTP 5xx',
  rejected: 'Rejected by the platform',
  disconnected: 'Account disconnected',
}

const route = getRouteApi('/inside/deliveries')

export function DeliveriesPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const query = {
    campaign_id: search.campaign,
    state: search.state,
    failure: search.failure,
    date_from: search.from && isoDayBegins(search.from),
    date_to: search.to && isoDayAfter(search.to),
    target_id: search.target,
    event_id: search.event,
  }
  const deliveries = useQuery({
    ...ask(listDeliveries, { query: { ...query, cursor: search.cursor } }),
    placeholderData: keepPreviousData,
    refetchInterval: 5000,
  })
  return (
    <>
      <PageHeader
        title="Deliveries"
        words="Conversions sent by postback or to ad accounts. Each is retried for about a day. Open its attempts to see the receiver’s answers."
      >
        {search.target !== undefined && (
          <Button look="quiet" onClick={() => narrow({ target: undefined })}>
            One rule only: show all
          </Button>
        )}
        <CampaignChoice campaign={search.campaign} onChange={campaign => narrow({ campaign })} />
        <Filters search={search} narrow={narrow} />
        <SaveCsv endpoint={exportDeliveries} query={query} name="deliveries" />
        <ResendButton search={search} />
      </PageHeader>
      <RunsNote />
      <List
        query={deliveries}
        address={address}
        what="deliveries"
        empty={
          <EmptyState
            icon={Send}
            title="No deliveries yet"
            words="A conversion that matches a postback rule appears here with its attempts."
          >
            <Link to="/postbacks" className={buttonLook('plain')}>
              Postback rules
            </Link>
          </EmptyState>
        }
      >
        {rows => <DeliveryTable deliveries={rows} campaigns={deliveries.data?.campaigns ?? []} />}
      </List>
    </>
  )
}

type FiltersProps = { search: DeliveriesSearch; narrow: (changes: DeliveriesSearch) => void }

function Filters({ search, narrow }: FiltersProps) {
  return (
    <>
      <Choice
        label="State"
        any="Any state"
        options={DeliveryState.options}
        words={inWords}
        value={search.state}
        onChange={state => narrow({ state })}
      />
      <Choice
        label="Kind of failure"
        any="Any failure"
        options={DeliveryFailure.options}
        words={failure => FAILURES[failure]}
        value={search.failure}
        onChange={failure => narrow({ failure })}
      />
      <BetweenDays happened="Created" search={search} onChange={narrow} />
    </>
  )
}

/** Resends the deliveries that the filters select: those in the chosen state if it can be resent, else the failed ones. */
function ResendButton({ search }: { search: DeliveriesSearch }) {
  const { role } = useActive()
  const [open, setOpen] = useState(false)
  const { campaign: campaign_id = null, target: target_id = null, failure = null } = search
  const state = search.state === 'skipped' || search.state === 'delivered' ? search.state : 'failed'
  return (
    <>
      <Button icon={RotateCcw} reason={reasonAgainst(resendDeliveries, role)} onClick={() => setOpen(true)}>
        Send again…
      </Button>
      <RunDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Send ${state} deliveries again`}
        words="Resends the deliveries that this page’s filters select, with the same event ids. Each gets all its retries again."
        what={`${state} deliveries`}
        days={{ from: search.from, to: search.to }}
        plan={period => call(resendDeliveries, { body: { state, failure, campaign_id, target_id, ...period } })}
      />
    </>
  )
}

function DeliveryTable({ deliveries, campaigns }: { deliveries: readonly DeliveryRow[]; campaigns: CampaignNames }) {
  const [opened, setOpened] = useState<string>()
  return (
    <>
      <Table caption="Deliveries">
        <thead>
          <tr>
            <Head stay>{`Time (${zoneWords()})`}</Head>
            <Head>State</Head>
            <Head>Kind</Head>
            <Head>Conversion</Head>
            <Head>Campaign</Head>
            <Head numeric>Attempts</Head>
            <Head>Next attempt</Head>
            <Head>Reason</Head>
            <ActionHead>Attempts</ActionHead>
          </tr>
        </thead>
        <tbody>
          {deliveries.map(delivery => (
            <Row key={delivery.id}>
              <RowHead stay className="font-normal!">
                {exactMoment(delivery.created_at)}
              </RowHead>
              <Cell>
                <Badge tone={TONES[delivery.state]}>{inWords(delivery.state)}</Badge>
              </Cell>
              <Cell>{KINDS[delivery.kind]}</Cell>
              <Cell>{inWords(delivery.event_type)}</Cell>
              <CampaignCell campaigns={campaigns} id={delivery.campaign_id} />
              <Cell numeric>{delivery.attempts}</Cell>
              <Cell
                faint={delivery.next_attempt_at === null}
                title={delivery.next_attempt_at === null ? undefined : moment(delivery.next_attempt_at)}
              >
                {delivery.next_attempt_at === null ? NONE : ago(delivery.next_attempt_at)}
              </Cell>
              <Cell className="max-w-72 truncate" faint={delivery.reason === null} title={delivery.reason ?? undefined}>
                {delivery.reason ?? NONE}
              </Cell>
              <ActionCell>
                <Button
                  size="sm"
                  look="quiet"
                  aria-label={`Attempts of the delivery at ${exactMoment(delivery.created_at)}`}
                  onClick={() => setOpened(delivery.id)}
                >
                  Attempts
                </Button>
              </ActionCell>
            </Row>
          ))}
        </tbody>
      </Table>
      <AttemptsDialog id={opened} onClose={() => setOpened(undefined)} />
    </>
  )
}

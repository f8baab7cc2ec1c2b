/** The conversion log: type, payout, status and click of each conversion, and who reported it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { SearchX, Trophy } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { EVENT_STATUSES } from '../../../contract/revisions.ts'
import { exportEvents, type LoggedEvent, listEvents, recordConversion } from '../../../intake/events/api.ts'
import { importRevisions } from '../../../intake/revisions/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import { CampaignChoice } from '../../ground/campaign-choice.tsx'
import { Attribution } from '../../ground/certainty.tsx'
import { CampaignCell, type CampaignNames } from '../../ground/campaign-name.tsx'
import { exactMoment, exactMoney, NONE } from '../../ground/figures/figures.ts'
import { isSought, MoreFilters, soughtQuery } from '../../ground/more-filters.tsx'
import { inWords } from '../../ground/rungs.ts'
import { Original } from '../../ground/original.tsx'
import { zoneWords } from '../../ground/zone.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { BetweenDays } from '../../ground/ui/between-days.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { AddButton, ClearFilters, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { isoDayAfter, isoDayBegins } from '../../ground/ui/period.ts'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { reportOf, useNetworkNames } from '../networks/names.ts'
import { BulkDialog } from '../revisions/bulk-dialog.tsx'
import { EventDialog } from '../revisions/event-dialog.tsx'
import { ConversionStatusBadge, wordOf } from '../revisions/standing.tsx'
import { RecordDialog } from './record-dialog.tsx'

type EventRow = z.input<typeof LoggedEvent>

const route = getRouteApi('/inside/conversions')

export function ConversionsPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow, clear } = address
  const [isRecording, setRecording] = useState(false)
  const [isRevising, setRevising] = useState(false)
  const { role } = useActive()
  const { campaign: campaign_id, q = search.click, type, status, from, to, cursor } = search
  const period = { date_from: from && isoDayBegins(from), date_to: to && isoDayAfter(to) }
  const query = { campaign_id, type, status, q, ...period, ...soughtQuery(search) }
  const events = useQuery({
    ...ask(listEvents, { query: { ...query, cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader title="Conversions" words="Newest first. A conversion that was sent twice is one row.">
        <SearchField
          label="Click id, transaction id or source click id"
          placeholder="Click or transaction id"
          value={q}
          onSeek={sought => narrow({ q: sought, click: undefined })}
        />
        <CampaignChoice campaign={search.campaign} onChange={campaign => narrow({ campaign })} />
        <Choice
          label="Type"
          any="Any type"
          options={EVENT_TYPES}
          words={inWords}
          value={type}
          onChange={chosen => narrow({ type: chosen })}
        />
        <Choice
          label="Status"
          any="Any status"
          options={EVENT_STATUSES}
          words={wordOf}
          value={status}
          onChange={chosen => narrow({ status: chosen })}
        />
        <BetweenDays happened="Recorded" search={search} onChange={narrow} />
        <MoreFilters search={search} amount="Payout" onChange={narrow} />
        <ClearFilters
          isNarrowed={isSought(search) || [campaign_id, q, type, status, from, to].some(one => one !== undefined)}
          onClear={clear}
        />
        <SaveCsv endpoint={exportEvents} query={query} name="conversions" />
        <Button reason={reasonAgainst(importRevisions, role)} onClick={() => setRevising(true)}>
          Approve or reject
        </Button>
        <AddButton endpoint={recordConversion} onClick={() => setRecording(true)}>
          Record
        </AddButton>
      </PageHeader>
      <List
        query={events}
        address={address}
        what="conversions"
        nothing={q === undefined ? undefined : <NothingFound sought={q} onClear={clear} />}
        empty={
          <EmptyState
            icon={Trophy}
            title="No conversions yet"
            words="Networks report them to their postback URL, your own server with an API key. They appear at once."
          >
            <Link to="/networks" className={buttonLook('plain')}>
              Networks
            </Link>
            <Link to="/settings/api-keys" className={buttonLook('plain')}>
              API keys
            </Link>
          </EmptyState>
        }
      >
        {rows => <EventTable events={rows} campaigns={events.data?.campaigns ?? []} />}
      </List>
      <BulkDialog open={isRevising} onClose={() => setRevising(false)} query={query} />
      <RecordDialog open={isRecording} onClose={() => setRecording(false)} />
    </>
  )
}

/** Points to Refused, because a missing conversion may have been refused. */
function NothingFound({ sought, onClear }: { sought: string; onClear: () => void }) {
  return (
    <EmptyState
      icon={SearchX}
      title="No conversion has this id"
      words={
        <>
          No filtered conversion has the click id, transaction id or source click id{' '}
          <span className="font-mono wrap-anywhere">{sought}</span>. Conversions that were not recorded are under
          Refused.
        </>
      }
    >
      <Link to="/refused-events" search={{}} className={buttonLook('plain')}>
        Refused
      </Link>
      <Button onClick={onClear}>Show all</Button>
    </EmptyState>
  )
}

function EventTable({ events, campaigns }: { events: readonly EventRow[]; campaigns: CampaignNames }) {
  const networks = useNetworkNames()
  const [opened, setOpened] = useState<EventRow>()
  return (
    <>
      <Table caption="Conversions">
        <thead>
          <tr>
            <Head stay>{`Time (${zoneWords()})`}</Head>
            <Head>Type</Head>
            <Head numeric>Payout, $</Head>
            <Head>Status</Head>
            <Head>Campaign</Head>
            <Head>Click id</Head>
            <Head>Transaction id</Head>
            <Head>From</Head>
            <ActionHead>Details</ActionHead>
          </tr>
        </thead>
        <tbody>
          {events.map(event => (
            <Row key={event.id}>
              <RowHead stay className="font-normal!">
                {exactMoment(event.created_at)}
              </RowHead>
              <Cell>
                {inWords(event.type)} <Attribution payload={event.payload} />{' '}
                {event.test && (
                  <Badge title="On a test click: not billed, and not sent by postback or to an ad account">Test</Badge>
                )}
              </Cell>
              <Cell numeric faint={event.payout === null}>
                <PayoutText event={event} />
                {event.original !== null && (
                  <span className="block max-sm:hidden">
                    <Original money={event.original} />
                  </span>
                )}
              </Cell>
              <Cell>
                <StatusCell event={event} />
              </Cell>
              <CampaignCell campaigns={campaigns} id={event.campaign_id} />
              <Cell className="font-mono text-sm">
                <Link to="/clicks/$id" params={{ id: event.click_id }} className="text-accent hover:underline">
                  {event.click_id}
                </Link>
              </Cell>
              <Cell className="max-w-40 truncate" faint={event.nonce === null} title={event.nonce ?? undefined}>
                {event.nonce ?? NONE}
              </Cell>
              <Cell className="max-w-40 truncate">
                {networks.get(reportOf(event).network_id ?? '') ?? FROM[event.source]}
              </Cell>
              <ActionCell>
                <Button
                  size="sm"
                  look="quiet"
                  onClick={() => setOpened(event)}
                  aria-label={`Details of the ${inWords(event.type)} at ${exactMoment(event.created_at)}`}
                >
                  Details
                </Button>
              </ActionCell>
            </Row>
          ))}
        </tbody>
      </Table>
      <EventDialog event={opened} onClose={() => setOpened(undefined)} />
    </>
  )
}

/** A badge only for a conversion that was revised. */
function StatusCell({ event: { status, amount, revisions } }: { event: EventRow }) {
  if (revisions > 0) return <ConversionStatusBadge status={status} />
  return <span className="text-ink-faint">{Number(amount) > 0 ? wordOf(status) : NONE}</span>
}

/** The amount that counts. A recorded payout that differs is struck through beside it. */
function PayoutText({ event: { payout, status, amount } }: { event: EventRow }) {
  if (payout === null && Number(amount) === 0) return NONE
  const isSame = payout !== null && Number(payout) === Number(amount)
  if (status === 'approved' || status === 'pending')
    return isSame ? (
      exactMoney(amount)
    ) : (
      <>
        {payout !== null && <s className="text-ink-faint">{exactMoney(payout)}</s>} {exactMoney(amount)}
      </>
    )
  return <s className="text-ink-faint">{exactMoney(payout ?? '0')}</s>
}

const FROM: Record<EventRow['source'], string> = {
  api: 'API key',
  dashboard: 'Dashboard',
  service: 'Sluice',
  network: 'Network',
  browser: 'Page',
}

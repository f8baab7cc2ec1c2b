/** The conversion log: what was reported for which click, by whom, and what it paid. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Plus, Trophy } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { type LoggedEvent, listEvents, recordConversion } from '../../events/api.ts'
import { ask } from '../call.ts'
import { CampaignChoice, useCampaignNames } from '../campaigns/campaign-choice.tsx'
import { inWords } from '../feed/rungs.ts'
import { exactMoment, exactMoney, NONE } from '../figures.ts'
import { type ConversionsSearch, EVENT_TYPES } from '../lists.ts'
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CodeBlock } from '../ui/copy.tsx'
import { Dialog, DialogBody } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'
import { Asked, EmptyState, PageHeader } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { RecordDialog } from './record-dialog.tsx'

type EventRow = z.input<typeof LoggedEvent>

const route = getRouteApi('/inside/conversions')

export function ConversionsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/conversions' })
  const { role } = useActive()
  const [recording, setRecording] = useState(false)
  const set = (changes: ConversionsSearch) =>
    void navigate({ search: before => ({ ...before, cursor: undefined, ...changes }) })
  const events = useQuery({
    ...ask(listEvents, {
      query: { campaign_id: search.campaign, type: search.type, click_id: search.click, cursor: search.cursor },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <PageHeader
        title="Conversions"
        words="As they were recorded, newest first. The same conversion sent twice is one row."
      >
        <SearchField label="Click id" placeholder="Click id" value={search.click} onSeek={click => set({ click })} />
        <CampaignChoice campaign={search.campaign} onChange={campaign => set({ campaign })} />
        <SelectField
          label="Type"
          hideLabel
          toolbar
          className="min-w-32 flex-1 sm:flex-none"
          value={search.type ?? ''}
          onChange={event => set({ type: EVENT_TYPES.find(type => type === event.target.value) })}
        >
          <option value="">Any type</option>
          {EVENT_TYPES.map(type => (
            <option key={type} value={type}>
              {inWords(type)}
            </option>
          ))}
        </SelectField>
        <Button
          look="primary"
          icon={Plus}
          reason={reasonAgainst(recordConversion, role)}
          onClick={() => setRecording(true)}
        >
          Record
        </Button>
      </PageHeader>
      <Asked query={events}>
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? (
              <EmptyState
                icon={Trophy}
                title="No conversions here"
                words="Networks and servers report them with an API key, and they appear at once."
              />
            ) : (
              <EventTable events={data} />
            )}
            <Pager cursor={search.cursor} next={next_cursor} onGo={cursor => set({ cursor })} />
          </>
        )}
      </Asked>
      <RecordDialog open={recording} onClose={() => setRecording(false)} />
    </>
  )
}

function EventTable({ events }: { events: readonly EventRow[] }) {
  const nameOf = useCampaignNames()
  const [shown, setShown] = useState<EventRow>()
  return (
    <>
      <Table caption="Conversions">
        <thead>
          <tr>
            <Head stay>Time (UTC)</Head>
            <Head>Type</Head>
            <Head numeric>Payout, $</Head>
            <Head>Campaign</Head>
            <Head>Click id</Head>
            <Head>Nonce</Head>
            <Head>From</Head>
            <Head>
              <span className="sr-only">Payload</span>
            </Head>
          </tr>
        </thead>
        <tbody>
          {events.map(event => (
            <Row key={event.id}>
              <RowHead stay className="font-normal!">
                {exactMoment(event.created_at)}
              </RowHead>
              <Cell>
                {inWords(event.type)}{' '}
                {event.test && <Badge title="On a test click: neither billed nor delivered">Test</Badge>}
              </Cell>
              <Cell numeric faint={event.payout === null}>
                {event.payout === null ? NONE : exactMoney(event.payout)}
              </Cell>
              <Cell className="max-w-52 truncate">{nameOf(event.campaign_id) ?? NONE}</Cell>
              <Cell className="font-mono text-sm">
                <Link to="/clicks/$id" params={{ id: event.click_id }} className="text-accent hover:underline">
                  {event.click_id}
                </Link>
              </Cell>
              <Cell className="max-w-40 truncate" faint={event.nonce === null} title={event.nonce ?? undefined}>
                {event.nonce ?? NONE}
              </Cell>
              <Cell>{FROM[event.source]}</Cell>
              <Cell className="pr-1! text-right">
                <Button
                  size="sm"
                  look="quiet"
                  onClick={() => setShown(event)}
                  aria-label={`All of the ${inWords(event.type)} at ${exactMoment(event.created_at)}`}
                >
                  All
                </Button>
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      <Dialog
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={shown === undefined ? '' : inWords(shown.type)}
        width="wide"
      >
        <DialogBody>
          <CodeBlock label="The event" text={JSON.stringify(shown, null, 2) ?? ''} />
        </DialogBody>
      </Dialog>
    </>
  )
}

const FROM: Record<EventRow['source'], string> = {
  api: 'API key',
  dashboard: 'Dashboard',
  service: 'Sluice',
  network: 'Network',
}

/** Everything that followed a click, by time: conversions, their status changes, outgoing calls and refusals. */
import { Link } from '@tanstack/react-router'
import { CircleX, type LucideIcon, MousePointerClick, Scale, Send, Trophy } from 'lucide-react'
import type { ReactNode } from 'react'
import type { z } from 'zod'
import { DIAGNOSES } from '../../../contract/diagnoses.ts'
import type { LoggedDelivery } from '../../../outgoing/deliveries/api.ts'
import type { Trace, TracedClick } from '../../../reading/traces/api.ts'
import { Attribution } from '../../ground/certainty.tsx'
import { exactMoment, exactMoney } from '../../ground/figures/figures.ts'
import { Original } from '../../ground/original.tsx'
import { inWords } from '../../ground/rungs.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { zoneWords } from '../../ground/zone.ts'
import { reportOf, useNetworkNames } from '../../intake/networks/names.ts'
import { isWorthNothing } from '../../intake/refused-events/details.tsx'
import { RevisionItem } from '../../intake/revisions/standing.tsx'
import { DroppedAttempts } from '../../outgoing/deliveries/dropped-attempts.tsx'

type TraceRow = z.input<typeof Trace>
type ClickRow = z.input<typeof TracedClick>
type DeliveryRow = z.input<typeof LoggedDelivery>

type Entry = { at: string; key: string; icon: LucideIcon; tone: string; content: ReactNode }

export function Timeline({ trace }: { trace: TraceRow }) {
  const { click, events, deliveries, refused } = trace
  const networks = useNetworkNames()
  const entries: Entry[] = [
    ...(click === null ? [] : [clickEntry(click)]),
    ...events.map(event => eventEntry(event, networks)),
    ...events.flatMap(event => event.history.map(revision => revisionEntry(event, revision))),
    ...deliveries.map(delivery => deliveryEntry(delivery)),
    ...refused.map(row => refusedEntry(row, networks)),
  ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return (
    <ol className="flex flex-col">
      {click === null && (
        <li className="mb-3">
          {trace.is_dropped ? (
            <Note>
              <strong>This click is no longer kept,</strong> like all clicks of its month. Its conversions are.
            </Note>
          ) : (
            <Note kind="warning">
              <strong>This click is not stored.</strong> It may still be on its way, or Sluice never issued the id.
            </Note>
          )}
        </li>
      )}
      {entries.map(({ at, key, icon: Icon, tone, content }) => (
        <li key={key} className="relative flex gap-3 border-l border-line pb-5 pl-6 last:border-transparent">
          <span
            className={`absolute -left-3 grid size-6 place-items-center rounded-full border border-line bg-surface ${tone}`}
          >
            <Icon aria-hidden className="size-3.5" />
          </span>
          <div className="min-w-0 flex-1">
            <p className="text-sm text-ink-faint">
              {exactMoment(at)} {zoneWords()}
            </p>
            {content}
          </div>
        </li>
      ))}
    </ol>
  )
}

function clickEntry(click: ClickRow): Entry {
  const content = (
    <p>
      <strong className="font-semibold">Clicked.</strong>{' '}
      {click.test ? <Badge>Test</Badge> : !click.tracked && <Badge>Not counted</Badge>}
      {click.while_paused &&
        ' Its campaign was paused or archived, so the visitor went to the fallback or saw that the offer is closed.'}
      {click.path !== null && <span className="block font-mono text-sm break-all text-ink-soft">{click.path}</span>}
    </p>
  )
  return { at: click.created_at, key: click.id, icon: MousePointerClick, tone: 'text-accent', content }
}

const FROM = {
  api: 'by an API key',
  dashboard: 'in the dashboard',
  service: 'by Sluice',
  network: 'by a network',
  browser: 'by a page',
} as const

type Names = ReadonlyMap<string, string>

function eventEntry(event: TraceRow['events'][number], networks: Names): Entry {
  const { network_id = '', status } = reportOf(event)
  const network = networks.get(network_id)
  const content = (
    <>
      <p>
        <strong className="font-semibold">{inWords(event.type)}</strong>{' '}
        {network === undefined ? FROM[event.source] : `by the network ${network}`}{' '}
        <Attribution payload={event.payload} />
        {status !== undefined && <span className="text-ink-soft">{` as “${status}”`}</span>}
        {event.payout !== null && <span className="font-semibold"> ${exactMoney(event.payout)}</span>}{' '}
        <Original money={event.original} /> {event.test && <Badge>Test</Badge>}{' '}
        {event.charge !== null && Number(event.charge) > 0 && (
          <Badge tone="accent">Charged ${exactMoney(event.charge)}</Badge>
        )}
      </p>
      {event.nonce !== null && <p className="text-sm break-all text-ink-soft">Transaction id {event.nonce}</p>}
    </>
  )
  return { at: event.created_at, key: event.id, icon: Trophy, tone: 'text-good', content }
}

function revisionEntry(
  { id, type, nonce }: TraceRow['events'][number],
  revision: TraceRow['events'][number]['history'][number],
): Entry {
  const content = (
    <p>
      <strong className="font-semibold">{inWords(type)}</strong>
      {nonce !== null && <span className="break-all text-ink-soft"> {nonce}</span>} <RevisionItem revision={revision} />
    </p>
  )
  return { at: revision.created_at, key: `${id} ${revision.seq}`, icon: Scale, tone: 'text-ink-soft', content }
}

const STATES: Record<string, Tone> = {
  pending: 'accent',
  held: 'warn',
  delivered: 'good',
  failed: 'bad',
  skipped: 'plain',
}

function deliveryEntry(delivery: DeliveryRow): Entry {
  const { state, kind, event_type, reason, history, next_attempt_at } = delivery
  const content = (
    <>
      <p>
        <strong className="font-semibold">{kind === 'postback' ? 'Postback' : 'Ad account'}</strong> for{' '}
        {inWords(event_type).toLowerCase()} <Badge tone={STATES[state] ?? 'plain'}>{inWords(state)}</Badge>
        {reason !== null && <span className="text-ink-soft"> {reason}</span>}
        {next_attempt_at !== null && (
          <span className="text-ink-soft"> next attempt {exactMoment(next_attempt_at)}</span>
        )}
      </p>
      <DroppedAttempts of={delivery} className="mt-1.5 text-sm" />
      {history.length > 0 && (
        <ol className="mt-1.5 flex flex-col gap-1.5">
          {history.map(attempt => (
            <li key={attempt.number} className="rounded-md bg-sunken px-2.5 py-1.5 text-sm">
              <span className="font-medium">{attempt.number}.</span> {exactMoment(attempt.started_at)}{' '}
              <Badge tone={attempt.status !== null && attempt.status >= 200 && attempt.status < 300 ? 'good' : 'bad'}>
                {attempt.status === null
                  ? attempt.finished_at === null
                    ? 'Under way'
                    : 'No answer'
                  : `HTTP ${attempt.status}`}
              </Badge>
              <span className="block font-mono break-all text-ink-soft">
                {attempt.method} {attempt.url}
              </span>
              {attempt.error !== null && <span className="block text-bad">{attempt.error}</span>}
            </li>
          ))}
        </ol>
      )}
    </>
  )
  return { at: delivery.created_at, key: delivery.id, icon: Send, tone: 'text-ink-soft', content }
}

function refusedEntry(row: TraceRow['refused'][number], networks: Names): Entry {
  const { words, advice } = DIAGNOSES[row.diagnosis]
  const recorded = isWorthNothing(row) ? 'Recorded' : 'Refused, later recorded'
  const title = row.difference !== null ? 'Later postback' : row.state === 'recorded' ? recorded : 'Refused'
  const network = networks.get(row.network_id ?? '')
  const content = (
    <p>
      <strong className="font-semibold">
        {title}: {words}.
      </strong>{' '}
      {network !== undefined && `Sent by the network ${network}. `}
      <span>{sentence(row.error)} </span>
      {(row.state !== 'recorded' || isWorthNothing(row)) && <span className="text-ink-soft">{advice} </span>}
      <Link to="/refused-events" search={{ diagnosis: row.diagnosis }} className="text-accent hover:underline">
        Refused
      </Link>
    </p>
  )
  return { at: row.received_at, key: row.id, icon: CircleX, tone: 'text-bad', content }
}

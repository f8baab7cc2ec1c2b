/** The status of a conversion, and the history of its status changes. */
import type { z } from 'zod'
import type { EventStatus } from '../../../contract/revisions.ts'
import type { EventRevision } from '../../../intake/revisions/api.ts'
import { exactMoment, exactMoney } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'

type Revision = z.input<typeof EventRevision>

const TONES: Record<EventStatus, Tone> = {
  approved: 'good',
  pending: 'warn',
  rejected: 'bad',
  refunded: 'bad',
  chargeback: 'bad',
}

export function ConversionStatusBadge({ status }: { status: EventStatus }) {
  return <Badge tone={TONES[status]}>{wordOf(status)}</Badge>
}

export const wordOf = (status: EventStatus): string => (status === 'pending' ? 'On hold' : inWords(status))

/** Who changed the status. */
function authorOf({ source, network_name, actor_name }: Revision): string {
  if (source === 'hold') return 'automatically at the end of its hold'
  if (source === 'network') return `by ${network_name === null ? 'a network' : `the network ${network_name}`}`
  return `by ${actor_name ?? 'someone'}${source === 'import' ? ', from a file' : ''}`
}

export function RevisionItem({ revision }: { revision: Revision }) {
  const { status, amount, reason, source, original_amount, original_currency, rate } = revision
  const isWorth = status === 'approved' || status === 'pending'
  return (
    <>
      <ConversionStatusBadge status={status} />
      {isWorth && <span className="font-semibold"> ${exactMoney(amount)}</span>}
      {original_amount !== null && (
        <span className="text-ink-faint">
          {' '}
          {exactMoney(original_amount)} {original_currency} at {rate}
        </span>
      )}{' '}
      {authorOf(revision)}
      {reason !== null && (
        <span className="text-ink-soft">{source === 'network' ? ` as “${reason}”` : `: ${reason}`}</span>
      )}
    </>
  )
}

/** The status changes, newest first. */
export function History({ revisions }: { revisions: readonly Revision[] }) {
  if (revisions.length === 0) return <p className="text-ink-faint">No status changes: it counts as recorded.</p>
  return (
    <ol className="flex flex-col gap-1.5">
      {revisions.map(revision => (
        <li key={revision.seq} className="rounded-md bg-sunken px-2.5 py-1.5">
          <span className="text-sm text-ink-faint">{exactMoment(revision.created_at)} </span>
          <RevisionItem revision={revision} />
        </li>
      ))}
    </ol>
  )
}

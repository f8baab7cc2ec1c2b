/** The list of what needs attention: what is wrong, the spend and revenue affected, and a link to fix it. */
import { Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { ago, moment } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { Section } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { useAttention } from './attention.ts'
import { isUrgent, type Line, wordsOf, worthOf } from './words.ts'

/** Kinds whose words name the days themselves. */
const OF_DAYS: ReadonlySet<Line['kind']> = new Set(['calls_refused', 'macros_unfilled', 'days_incomplete'])
/** Further lines are shown on demand. */
const FIRST = 6

export function AttentionList() {
  const { data, error } = useAttention()
  const [showsAll, setShowsAll] = useState(false)
  if (data === undefined) return <RefusalNote refused={error} className="mb-8" />
  const { lines } = data
  if (lines.length === 0)
    return (
      <p className="mb-8 flex items-center gap-2 text-ink-soft">
        <CircleCheck aria-hidden className="size-4 text-good" />
        Nothing needs attention.
      </p>
    )
  const shown = showsAll ? lines : lines.slice(0, FIRST)
  return (
    <Section title="Needs attention">
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {shown.map(line => (
          <Item key={`${line.kind} ${line.id} ${line.name}`} line={line} />
        ))}
      </ul>
      {lines.length > FIRST && (
        <button
          type="button"
          onClick={() => setShowsAll(!showsAll)}
          className="mt-2 text-sm font-medium text-accent underline-offset-2 hover:underline"
        >
          {showsAll ? 'Show fewer' : `Show ${lines.length - FIRST} more`}
        </button>
      )}
    </Section>
  )
}

function Item({ line }: { line: Line }) {
  const now = useNow()
  const { what, follows, cure } = wordsOf(line, now)
  const worth = worthOf(line)
  return (
    <li className="flex gap-2.5 px-3.5 py-2">
      <TriangleAlert
        aria-hidden
        className={clsx('mt-0.5 size-4 shrink-0', isUrgent(line) ? 'text-bad' : 'text-warn')}
      />
      <div className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-4 gap-y-0.5">
        <p className="min-w-0 flex-1 basis-80 text-ink-soft wrap-anywhere">
          <strong className="font-semibold text-ink">{what}.</strong> {follows}
          {line.since !== null && !OF_DAYS.has(line.kind) && (
            <span className="text-sm text-ink-faint" title={moment(line.since)}>
              {' '}
              {`Began ${ago(line.since, now)}.`}
            </span>
          )}
        </p>
        {worth !== undefined && <p className="text-sm text-ink-soft sm:text-right">{worth}</p>}
        {cure !== undefined && (
          <Link
            {...cure.link}
            className="text-sm font-medium text-accent underline-offset-2 hover:underline sm:w-44 sm:text-right"
          >
            {cure.label}
          </Link>
        )}
      </div>
    </li>
  )
}

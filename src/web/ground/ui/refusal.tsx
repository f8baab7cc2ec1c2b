/** Notes: a server's error in its own words, and remarks. */
import { TriangleAlert } from 'lucide-react'
import { Refused } from '../call.ts'
import { sentence } from './plain-words.ts'

export function RefusalNote({ refused, className = '' }: { refused: Error | null | undefined; className?: string }) {
  if (refused === null || refused === undefined) return null
  const hint = refused instanceof Refused ? refused.hint : undefined
  return (
    <div role="alert" className={`flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-ink ${className}`}>
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <p className="min-w-0">
        <strong className="font-medium">{sentence(refused.message)}</strong>
        {hint !== undefined && <span className="text-ink-soft"> {hint}</span>}
      </p>
    </div>
  )
}

/** A remark, or a warning. */
export function Note({ kind = 'plain', children }: { kind?: 'plain' | 'warning'; children: React.ReactNode }) {
  const look = kind === 'warning' ? 'bg-warn-soft border-l-warn' : 'bg-sunken border-l-line-strong'
  return (
    <div
      className={`rounded-md border-l-3 px-3 py-2 text-ink-soft [&_strong]:font-semibold [&_strong]:text-ink ${look}`}
    >
      {children}
    </div>
  )
}

/** A state in one or two words. The colour never says more than the words. */
import { clsx } from 'clsx'
import type { ReactNode } from 'react'

export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad'

const TONES: Record<Tone, string> = {
  plain: 'bg-sunken text-ink-soft',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

export function Badge({ tone = 'plain', children, title }: { tone?: Tone; children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className={clsx(
        'inline-flex h-5 items-center rounded-sm px-1.5 text-sm font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  )
}

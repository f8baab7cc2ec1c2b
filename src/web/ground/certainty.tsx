/** How certain the click of a join is: as a word, and as shares of many joins. */
import { clsx } from 'clsx'
import type { Certainty } from '../../telegram/members/api.ts'
import { count, NONE, percent } from './figures/figures.ts'

type Shares = Readonly<Record<Certainty, number>>

const WORDS: Readonly<Record<Certainty, { name: string; words: string; fill: string }>> = {
  link: { name: 'Own link', words: 'by an invite link given only to this click', fill: 'bg-good' },
  person: { name: 'Person', words: 'by what the person did earlier with one of your bots', fill: 'bg-accent' },
  campaign: { name: 'Shared link', words: 'by the link that the campaign’s clicks share', fill: 'bg-warn' },
  organic: { name: 'Organic', words: 'no click is known', fill: 'bg-line-strong' },
}
const ORDER = ['link', 'person', 'campaign', 'organic'] as const

export const certaintyName = (certainty: Certainty): string => WORDS[certainty].name

/** Shown beside a conversion: how its click was found, if the payload says so. */
export function Attribution({ payload }: { payload: Readonly<Record<string, unknown>> | null }) {
  const certainty = ORDER.find(one => one === payload?.['attribution'])
  if (certainty === undefined) return null
  const { name, words } = WORDS[certainty]
  return (
    <span className="text-ink-faint" title={`Attributed ${words}`}>
      {name.toLowerCase()}
    </span>
  )
}

/** The shares side by side, with their numbers in the tooltip and for screen readers. */
export function CertaintyStrip({ shares }: { shares: Shares }) {
  const shown = ORDER.filter(one => shares[one] > 0)
  if (shown.length === 0) return <span className="text-ink-faint">{NONE}</span>
  const words = shown.map(one => `${WORDS[one].name} ${count(shares[one])}`).join(', ')
  return (
    <span className="flex h-2 w-24 gap-px overflow-hidden rounded-full bg-sunken" title={words}>
      <span className="sr-only">{words}</span>
      {shown.map(one => (
        <span key={one} className={WORDS[one].fill} style={{ flexGrow: shares[one] }} />
      ))}
    </span>
  )
}

/** The shares side by side, with their numbers below. */
export function CertaintyBar({ shares }: { shares: Shares }) {
  const all = ORDER.reduce((sum, one) => sum + shares[one], 0)
  if (all === 0) return <p className="text-sm text-ink-faint">No joins in these days.</p>
  const shown = ORDER.filter(one => shares[one] > 0)
  return (
    <div className="flex flex-col gap-2">
      <div className="flex h-2.5 gap-px overflow-hidden rounded-full bg-sunken" aria-hidden>
        {shown.map(one => (
          <span key={one} className={WORDS[one].fill} style={{ flexGrow: shares[one] }} />
        ))}
      </div>
      <ul className="flex flex-wrap gap-x-5 gap-y-1 text-sm" aria-label="Certainty of joins">
        {shown.map(one => (
          <li key={one} title={WORDS[one].words} className="flex items-center gap-1.5">
            <span aria-hidden className={clsx('size-2 rounded-full', WORDS[one].fill)} />
            <span className="text-ink-soft">{WORDS[one].name}</span> {count(shares[one])}
            <span className="text-ink-faint">{percent(shares[one] / all)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

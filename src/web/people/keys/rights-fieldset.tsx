/** One tier of rights as checkboxes, each with its slug and its meaning. */
import { RIGHTS, type Right, rightsOf, type Tier } from '../../../contract/rights.ts'
import { Checkbox } from '../../ground/ui/field.tsx'
import { type GrantChoice, isBlocked } from './grant-choice.ts'

export const TIER_WORDS: Record<Tier, { title: string; words: string }> = {
  read: { title: 'Read', words: 'Reads reports and clicks. Changes nothing.' },
  write: { title: 'Write', words: 'Creates and archives objects, and reports conversions.' },
  delete: { title: 'Delete', words: 'Rewrites, deletes or changes live traffic. These actions cannot be undone.' },
}

const BLOCKED = 'This right covers the whole workspace and cannot be limited to campaigns.'

export function RightsFieldset({
  tier,
  choice,
  onTick,
}: {
  tier: Tier
  choice: GrantChoice
  onTick: (rights: readonly Right[], on: boolean) => void
}) {
  const rights = rightsOf(tier)
  const free = rights.filter(right => !isBlocked(choice, right))
  const all = free.every(right => choice.rights.has(right))
  const { title, words } = TIER_WORDS[tier]
  return (
    <fieldset className="min-w-0 rounded-md border border-line px-4 pt-2 pb-3.5">
      <legend className={tier === 'delete' ? 'px-1.5 font-semibold text-bad' : 'px-1.5 font-semibold'}>{title}</legend>
      <div className="mb-3 flex items-start justify-between gap-3 text-sm text-ink-faint">
        <p>{words}</p>
        <button
          type="button"
          aria-label={all ? `Untick all of ${title}` : `Tick all of ${title}`}
          onClick={() => onTick(free, !all)}
          className="shrink-0 rounded-sm font-medium text-accent underline-offset-2 hover:underline"
        >
          {all ? 'None' : 'All'}
        </button>
      </div>
      <div className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
        {rights.map(right => (
          <Checkbox
            key={right}
            label={<span className="font-mono text-sm">{right}</span>}
            words={RIGHTS[right].means}
            reason={isBlocked(choice, right) ? BLOCKED : undefined}
            checked={choice.rights.has(right) && !isBlocked(choice, right)}
            onChange={event => onTick([right], event.target.checked)}
          />
        ))}
      </div>
    </fieldset>
  )
}

/** The most urgent thing that needs attention, in one line on every page but the overview, which lists them all. */
import { Link, useRouterState } from '@tanstack/react-router'
import { useNow } from '../ground/figures/now.ts'
import { Note } from '../ground/ui/refusal.tsx'
import { useAttention } from '../reading/attention/attention.ts'
import { isUrgent, wordsOf } from '../reading/attention/words.ts'

const LINK = 'underline underline-offset-2 hover:text-ink'

export function UrgentLine() {
  const isOverview = useRouterState({ select: ({ location }) => location.pathname === '/' })
  const urgent = useAttention().data?.lines.filter(isUrgent) ?? []
  const now = useNow()
  const [first, ...others] = urgent
  if (first === undefined || isOverview) return null
  const { what, follows, cure } = wordsOf(first, now)
  return (
    <output className="mb-4 block">
      <Note kind="warning">
        <strong>{what}.</strong> {follows}{' '}
        {cure !== undefined && (
          <Link {...cure.link} className={LINK}>
            {cure.label}
          </Link>
        )}
        {others.length > 0 && (
          <>
            {cure !== undefined && ' · '}
            <Link to="/" className={LINK}>
              {`${others.length === 1 ? 'One more thing needs' : `${others.length} more things need`} attention`}
            </Link>
          </>
        )}
      </Note>
    </output>
  )
}

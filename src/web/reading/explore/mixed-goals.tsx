/**
 * With one type of event as the goal of all campaigns, totals of CR and CPA also include clicks and cost of campaigns without such events. This note
 * says so.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { explore } from '../../../reading/explore/api.ts'
import { ask } from '../../ground/call.ts'
import { inWords } from '../../ground/rungs.ts'
import type { Question } from './question.ts'

/** The most rows of an answer's first level. */
const MOST_CAMPAIGNS = 1000

export function MixedGoals({ question }: { question: Question }) {
  const { date_from, date_to, filters, goal, count_pending } = question
  const asked = {
    date_from,
    date_to,
    goal,
    ...(filters === undefined ? {} : { filters }),
    ...(count_pending === undefined ? {} : { count_pending }),
    levels: [{ dimension: 'campaign' as const, top: MOST_CAMPAIGNS }],
    measures: ['clicks' as const, 'conversions' as const, 'cost' as const],
  }
  const rows =
    useQuery({ ...ask(explore, { body: asked }), placeholderData: keepPreviousData, enabled: goal !== undefined }).data
      ?.rows ?? []
  const campaigns = rows.filter(({ key }) => key !== null && key !== '')
  const without = campaigns.filter(({ conversions }) => conversions === 0)
  if (goal === undefined || without.length === 0 || without.length === campaigns.length) return null
  const hasCost = without.some(({ cost }) => cost !== null)
  return (
    <p className="mt-2 text-sm text-ink-faint">
      {`${without.length} of ${campaigns.length} campaigns have no ${inWords(goal)}, but the total’s CR${hasCost ? ' and CPA include their clicks and cost' : ' includes their clicks'}. Choose a campaign, or count each campaign’s own goal.`}
    </p>
  )
}

/** What owners and admins are told on each page while work that Sluice does by itself fails again and again. */
import { useQuery } from '@tanstack/react-query'
import { listFailingRounds } from '../../reading/failing-rounds/api.ts'
import { reasonAgainst, useActive } from '../ground/active.ts'
import { ask } from '../ground/call.ts'
import { Note } from '../ground/ui/refusal.tsx'
import { moment } from '../ground/figures/figures.ts'

/** It fails and mends by itself, so the page asks again now and then. */
const AGAIN_MS = 60_000
/** What the workspace notices; the rest is named as the log and the metrics name it. */
const WORDS: Readonly<Record<string, string>> = {
  'deliveries/postback': 'Sending postbacks',
  'deliveries/ad_account': 'Sending conversions to ad accounts',
}

export function FailingBanner() {
  const { role } = useActive()
  const mayKnow = reasonAgainst(listFailingRounds, role) === undefined
  const { data } = useQuery({ ...ask(listFailingRounds), refetchInterval: AGAIN_MS, enabled: mayKnow })
  const failing = data?.data ?? []
  if (failing.length === 0) return null
  return (
    <output className="mb-4 block">
      <Note kind="warning">
        <strong>Work behind Sluice fails.</strong>{' '}
        {failing
          .map(({ round, failing_since }) => `${WORDS[round] ?? round} has failed since ${moment(failing_since)}`)
          .join('; ')}
        . It is tried again by itself. Whoever runs Sluice finds the reason in its log.
      </Note>
    </output>
  )
}

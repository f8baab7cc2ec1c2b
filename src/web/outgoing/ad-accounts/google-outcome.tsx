/** Asks Google whether it counted a conversion it accepted. Google matches conversions some time after its answer. */
import { useMutation } from '@tanstack/react-query'
import { readOutcome } from '../../../outgoing/platform-answers/api.ts'
import { call } from '../../ground/call.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

const OUTCOME_WORDS = {
  counted: { tone: 'good', words: 'Google has counted it' },
  processing: { tone: 'accent', words: 'Google is still matching it' },
  refused: { tone: 'bad', words: 'Google has not counted it' },
  unknown: { tone: 'warn', words: 'Google gives no result' },
} as const

/** Whether Google can be asked about the result of a call. */
export const isGoogleCall = (url: string | undefined) => url?.endsWith('/v1/events:ingest') === true

export function GoogleOutcome({ account, delivery }: { account: string; delivery: string }) {
  const outcome = useMutation({
    mutationFn: () => call(readOutcome, { params: { id: account, delivery_id: delivery } }),
    gcTime: 0,
  })
  const { state, reasons = [] } = outcome.data ?? {}
  return (
    <div className="flex flex-col items-start gap-2">
      <Button size="sm" pending={outcome.isPending} onClick={() => outcome.mutate()}>
        Check the result at Google
      </Button>
      {state !== undefined && (
        <output className="flex flex-wrap items-center gap-2">
          <Badge tone={OUTCOME_WORDS[state].tone}>{OUTCOME_WORDS[state].words}</Badge>
          {reasons.length > 0 && <span className="text-ink-soft">{reasons.join(', ')}</span>}
        </output>
      )}
      <RefusalNote refused={outcome.error} />
    </div>
  )
}

/** Asks Google what became of a conversion it had accepted: it matches some time after its answer. */
import { useMutation } from '@tanstack/react-query'
import { readOutcome } from '../../../outgoing/platform-answers/api.ts'
import { call } from '../../ground/call.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

const SAID = {
  counted: { tone: 'good', words: 'Google has counted it' },
  processing: { tone: 'accent', words: 'Google is still matching it' },
  refused: { tone: 'bad', words: 'Google has not counted it' },
  unknown: { tone: 'warn', words: 'Google does not say' },
} as const

/** Whether a call was one that Google can be asked about afterwards. */
export const isGoogleCall = (url: string | undefined) => url?.endsWith('/v1/events:ingest') === true

export function GoogleOutcome({ account, delivery }: { account: string; delivery: string }) {
  const asked = useMutation({
    mutationFn: () => call(readOutcome, { params: { id: account, delivery_id: delivery } }),
    gcTime: 0,
  })
  const { state, reasons = [] } = asked.data ?? {}
  return (
    <div className="flex flex-col items-start gap-2">
      <Button size="sm" pending={asked.isPending} onClick={() => asked.mutate()}>
        Ask Google what became of it
      </Button>
      {state !== undefined && (
        <output className="flex flex-wrap items-center gap-2">
          <Badge tone={SAID[state].tone}>{SAID[state].words}</Badge>
          {reasons.length > 0 && <span className="text-ink-soft">{reasons.join(', ')}</span>}
        </output>
      )}
      <RefusalNote refused={asked.error} />
    </div>
  )
}

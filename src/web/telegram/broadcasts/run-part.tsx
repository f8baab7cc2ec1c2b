/** A started broadcast: progress, speed, outcome by recipient, and what recipients did afterwards. */
import { useMutation } from '@tanstack/react-query'
import {
  listSends,
  pauseBroadcast,
  resumeBroadcast,
  type SendState,
  stopBroadcast,
} from '../../../telegram/broadcasts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { ago, count, moment, money, percent, ratio, span } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { PageHeader, Section } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { MessagePreview } from '../messages/preview.tsx'
import { useBroadcastBots } from './broadcasts-page.tsx'
import { useRate } from './rate.ts'
import { RecipientsPart } from './recipients-part.tsx'
import { type BroadcastRow, isUnderWay, Progress, SHOW_BROADCASTS, BroadcastStateBadge } from './state.tsx'

export function RunPart({ broadcast, outcome }: { broadcast: BroadcastRow; outcome: SendState | undefined }) {
  const { name, state, bot_id, pause_reason, started_at, started_by, ended_at, message } = broadcast
  const bot = useBroadcastBots().data?.data.find(({ id }) => id === bot_id)
  const facts = [
    bot === undefined ? undefined : `@${bot.username}`,
    started_at === null ? undefined : `started ${moment(started_at)}`,
    started_by === null ? undefined : `started by ${started_by}`,
    ended_at === null ? undefined : `ended ${moment(ended_at)}`,
  ]
  return (
    <>
      <PageHeader
        title={name}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <BroadcastStateBadge broadcast={broadcast} />
            {facts.filter(part => part !== undefined).join(' · ')}
          </span>
        }
      >
        <RunActions broadcast={broadcast} />
      </PageHeader>
      {state === 'paused' && pause_reason !== null && (
        <div className="mb-5">
          <Note kind="warning">
            <strong>Paused automatically.</strong> {pause_reason}. Nothing was sent to the remaining recipients.
          </Note>
        </div>
      )}
      <div className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0">
          <Section title="Progress" words={<PaceWords broadcast={broadcast} />}>
            <Progress broadcast={broadcast} wide />
          </Section>
          <RecipientsPart broadcast={broadcast} outcome={outcome} />
          <Afterwards broadcast={broadcast} />
        </div>
        <MessagePreview message={message} withOptOut />
      </div>
    </>
  )
}

/** The measured speed, and the time left at that speed. */
function PaceWords({ broadcast }: { broadcast: BroadcastRow }) {
  const rate = useRate(broadcast)
  const { state, pace, counts, window, audience } = broadcast
  if (state === 'preparing') return 'Building the list of recipients.'
  if (state !== 'sending') return undefined
  const hasHours = window !== null || audience.quiet_hours !== undefined
  if (rate === undefined) return `Up to ${count(pace)} per second.`
  if (rate < 0.05) return hasHours ? 'Waiting for its sending hours or for Telegram.' : 'Waiting for Telegram.'
  return `${rate.toFixed(1)} per second of at most ${count(pace)}. About ${span(counts.queued / rate)} left.`
}

function RunActions({ broadcast: { id, state, name, counts } }: { broadcast: BroadcastRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const confirm = useConfirm()
  const deed = useMutation({
    mutationFn: (endpoint: typeof pauseBroadcast | typeof resumeBroadcast) => call(endpoint, { params: { id } }),
    onSuccess: () => refresh(...SHOW_BROADCASTS),
  })
  const reason = reasonAgainst(stopBroadcast, role)
  if (state === 'done' || state === 'stopped') return null
  const isPaused = state === 'paused'
  return (
    <>
      <RefusalNote refused={deed.error} />
      <Button
        look={isPaused ? 'primary' : 'plain'}
        pending={deed.isPending}
        reason={reason}
        onClick={() => deed.mutate(isPaused ? resumeBroadcast : pauseBroadcast)}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button
        look="danger"
        reason={reason}
        onClick={() =>
          confirm({
            title: `Stop ${name}?`,
            words: (
              <>
                <strong>{count(counts.queued)}</strong> remaining recipients are skipped. It cannot be started again.
              </>
            ),
            action: 'Stop',
            deed: () => call(stopBroadcast, { params: { id } }),
            refresh: [...SHOW_BROADCASTS, listSends],
            news: 'Broadcast stopped',
          })
        }
      >
        Stop
      </Button>
    </>
  )
}

function Afterwards({ broadcast }: { broadcast: BroadcastRow }) {
  const { afterwards, counts } = broadcast
  if (counts.sent === 0) return null
  return (
    <Section
      title="Afterwards"
      words="Recipients who blocked the bot within 24 hours or converted within 72, whatever the reason."
    >
      {afterwards === null ? (
        <p className="text-ink-faint">{isUnderWay(broadcast) ? 'Counted while it runs.' : 'Counted within minutes.'}</p>
      ) : (
        <dl className="flex flex-wrap gap-x-10 gap-y-3">
          <FigureTerm
            words="Blocked"
            value={count(afterwards.blocked)}
            of={percent(ratio(afterwards.blocked, counts.sent))}
          />
          <FigureTerm
            words="Conversions"
            value={count(afterwards.conversions)}
            of={percent(ratio(afterwards.conversions, counts.sent))}
          />
          <FigureTerm words="Revenue" value={money(afterwards.revenue)} of={`counted ${ago(afterwards.at)}`} />
        </dl>
      )}
    </Section>
  )
}

const FigureTerm = ({ words, value, of }: { words: string; value: string; of: string }) => (
  <div>
    <dt className="text-sm text-ink-soft">{words}</dt>
    <dd className="text-lg tabular-nums">{value}</dd>
    <dd className="text-sm text-ink-faint">{of}</dd>
  </div>
)

/** How a broadcast goes: how far and how fast it is, what has come of each recipient, and what they did afterwards. */
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
import { ago, count, moment, money, percent, ratio } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { PageHeader, Section } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { MessagePreview } from '../messages/preview.tsx'
import { useBots } from './broadcasts-page.tsx'
import { useRate } from './rate.ts'
import { RecipientsPart } from './recipients-part.tsx'
import { type BroadcastRow, isRunning, Progress, SHOW_BROADCASTS, span, StateBadge } from './state.tsx'

export function RunPart({ broadcast, shown }: { broadcast: BroadcastRow; shown: SendState | undefined }) {
  const { name, state, bot_id, pause_reason, started_at, started_by, ended_at, message } = broadcast
  const bot = useBots().data?.data.find(({ id }) => id === bot_id)
  const times = [
    bot === undefined ? undefined : `@${bot.username}`,
    started_at === null ? undefined : `begun ${moment(started_at)}`,
    started_by === null ? undefined : `started by ${started_by}`,
    ended_at === null ? undefined : `ended ${moment(ended_at)}`,
  ]
  return (
    <>
      <PageHeader
        title={name}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <StateBadge broadcast={broadcast} />
            {times.filter(part => part !== undefined).join(' · ')}
          </span>
        }
      >
        <Deeds broadcast={broadcast} />
      </PageHeader>
      {state === 'paused' && pause_reason !== null && (
        <div className="mb-5">
          <Note kind="warning">
            <strong>It has paused by itself.</strong> {pause_reason}. Nobody else was tried.
          </Note>
        </div>
      )}
      <div className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0">
          <Section title="Progress" words={<Pace broadcast={broadcast} />}>
            <Progress broadcast={broadcast} wide />
          </Section>
          <RecipientsPart broadcast={broadcast} shown={shown} />
          <Afterwards broadcast={broadcast} />
        </div>
        <MessagePreview message={message} withOptOut />
      </div>
    </>
  )
}

/** How fast it really goes, and when it ends by that. */
function Pace({ broadcast }: { broadcast: BroadcastRow }) {
  const rate = useRate(broadcast)
  const { state, pace, counts, window, audience } = broadcast
  if (state === 'preparing') return 'Everybody it is for is written down first.'
  if (state !== 'sending') return undefined
  const hours = window !== null || audience.quiet_hours !== undefined
  if (rate === undefined) return `Up to ${count(pace)} a second.`
  if (rate < 0.05) return hours ? 'It waits for its hours, or for Telegram.' : 'It waits for Telegram.'
  return `${rate.toFixed(1)} a second of at most ${count(pace)}. About ${span(counts.queued / rate)} left.`
}

function Deeds({ broadcast: { id, state, name, counts } }: { broadcast: BroadcastRow }) {
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
        {isPaused ? 'Go on' : 'Pause'}
      </Button>
      <Button
        look="danger"
        reason={reason}
        onClick={() =>
          confirm({
            title: `Stop ${name}?`,
            words: (
              <>
                <strong>{count(counts.queued)}</strong> who wait for it are skipped. It cannot be started again.
              </>
            ),
            action: 'Stop it',
            deed: () => call(stopBroadcast, { params: { id } }),
            refresh: [...SHOW_BROADCASTS, listSends],
            news: 'The broadcast is stopped',
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
      words="What those it was sent to did afterwards, for whatever reason: blocked the bot within 24 hours, converted within 72."
    >
      {afterwards === null ? (
        <p className="text-ink-faint">
          {isRunning(broadcast) ? 'Counted while it goes on.' : 'Counted within minutes.'}
        </p>
      ) : (
        <dl className="flex flex-wrap gap-x-10 gap-y-3">
          <Figure
            words="Blocked"
            value={count(afterwards.blocked)}
            of={percent(ratio(afterwards.blocked, counts.sent))}
          />
          <Figure
            words="Conversions"
            value={count(afterwards.conversions)}
            of={percent(ratio(afterwards.conversions, counts.sent))}
          />
          <Figure words="Revenue" value={money(afterwards.revenue)} of={`counted ${ago(afterwards.at)}`} />
        </dl>
      )}
    </Section>
  )
}

const Figure = ({ words, value, of }: { words: string; value: string; of: string }) => (
  <div>
    <dt className="text-sm text-ink-soft">{words}</dt>
    <dd className="text-lg tabular-nums">{value}</dd>
    <dd className="text-sm text-ink-faint">{of}</dd>
  </div>
)

/** The form of a broadcast: message with preview, audience with its size, schedule, test and start. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { broadcastFault } from '../../../contract/telegram-message.ts'
import {
  countAudience,
  deleteBroadcast,
  listBroadcasts,
  startBroadcast,
  stopBroadcast,
  updateBroadcast,
} from '../../../telegram/broadcasts/api.ts'
import { listChannels } from '../../../telegram/channels/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count, moment, span } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { PageHeader, Section } from '../../ground/ui/page.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { MessageEditor } from '../messages/editor.tsx'
import { MessagePreview } from '../messages/preview.tsx'
import { AudiencePart } from './audience-part.tsx'
import { useBroadcastBots } from './broadcasts-page.tsx'
import { changesOf, type Draft, draftOf } from './draft.ts'
import { type BroadcastRow, SHOW_BROADCASTS, BroadcastStateBadge } from './state.tsx'
import { TestPart } from './test-part.tsx'
import { WhenPart } from './when-part.tsx'

/** Other broadcasts of the bot whose recipients can be excluded. */
function useOtherBroadcasts({ id, bot_id }: BroadcastRow) {
  const all = useQuery(ask(listBroadcasts, { query: { bot_id, limit: 100 } })).data?.data ?? []
  return all.filter(one => one.id !== id && one.recipients > 0)
}

export function EditPart({ broadcast }: { broadcast: BroadcastRow }) {
  const { id, name, state, bot_id } = broadcast
  const { role } = useActive()
  const refresh = useRefresh()
  const before = draftOf(broadcast)
  const [draft, setDraft] = useState<Draft>(before)
  const set = (changes: Partial<Draft>) => setDraft(held => ({ ...held, ...changes }))
  const changes = changesOf(before, draft)
  const isChanged = Object.keys(changes).length > 0
  useUnsaved(isChanged, 'the broadcast')
  const reason = reasonAgainst(updateBroadcast, role)
  const bot = useBroadcastBots().data?.data.find(one => one.id === bot_id)
  const others = useOtherBroadcasts(broadcast)
  const channels = useQuery(ask(listChannels, { query: { limit: 200 } })).data?.data ?? []
  const audience = useQuery({
    ...ask(countAudience, {
      body: { bot_id, audience: draft.audience, per_second: draft.per_second, paid: draft.paid },
    }),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const save = useMutation({
    mutationFn: () => call(updateBroadcast, { params: { id }, body: changes }),
    onSuccess: async saved => {
      await refresh(...SHOW_BROADCASTS)
      const isUnscheduled = state === 'scheduled' && saved.state === 'draft'
      notify(isUnscheduled ? 'Saved as a draft: schedule it again' : 'Broadcast saved')
    },
  })
  const saveFirst = async () => {
    if (isChanged) await call(updateBroadcast, { params: { id }, body: changes })
  }
  const facts = bot === undefined ? [] : [`@${bot.username}`]
  if (state === 'scheduled' && broadcast.starts_at !== null) facts.push(`starts ${moment(broadcast.starts_at)}`)
  return (
    <>
      <PageHeader
        title={name}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <BroadcastStateBadge broadcast={broadcast} />
            {facts.join(' · ')}
          </span>
        }
      >
        {isChanged && (
          <Button reason={reason} pending={save.isPending} onClick={() => save.mutate()}>
            Save
          </Button>
        )}
        <StartButton broadcast={broadcast} draft={draft} counted={audience.data} saveFirst={saveFirst} />
      </PageHeader>
      <RefusalNote refused={save.error} className="mb-4" />
      <div className="grid items-start gap-x-10 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <fieldset disabled={reason !== undefined} className="order-last min-w-0 lg:order-first">
          <Section title="Message">
            <MessageEditor
              message={draft.message}
              onChange={message => set({ message })}
              channels={channels}
              showsFaults={'message' in changes || state === 'scheduled'}
            />
          </Section>
          <Section
            title="Audience"
            words="Reachable subscribers of the bot who match all conditions. Click conditions use the click that brought the person."
          >
            <AudiencePart
              audience={draft.audience}
              channels={channels}
              broadcasts={others}
              onChange={changed => set({ audience: changed })}
            />
          </Section>
          <Section title="Schedule and speed">
            <WhenPart draft={draft} onChange={set} />
          </Section>
          <Section title="Name">
            <TextField
              label="Name"
              hideLabel
              className="max-w-72"
              value={draft.name}
              onChange={event => set({ name: event.target.value })}
            />
          </Section>
          <EndPart broadcast={broadcast} />
        </fieldset>
        <aside className="mb-6 flex flex-col gap-5 lg:sticky lg:top-4">
          <MessagePreview message={draft.message} withOptOut />
          <AudienceSize query={audience} isPaid={draft.paid} />
          <TestPart broadcast={broadcast} saveFirst={saveFirst} examples={audience.data?.examples ?? []} />
        </aside>
      </div>
    </>
  )
}

type AudienceCount = { count: number; seconds: number; stars: number | null }

type CountQuery = { data: AudienceCount | undefined; error: Error | null }

function AudienceSize({ query, isPaid }: { query: CountQuery; isPaid: boolean }) {
  if (query.data === undefined) return <RefusalNote refused={query.error} />
  const { count: people, seconds, stars } = query.data
  return (
    <div aria-live="polite">
      <p className="text-2xl tabular-nums">{count(people)}</p>
      <p className="text-ink-soft">
        {people === 1 ? 'person gets it' : 'people get it'}
        {people > 0 && `, within about ${span(seconds)}`}
        {isPaid && stars !== null && people > 0 && `, for at most ${count(stars)} Stars`}.
      </p>
      {people === 0 && (
        <p className="mt-1 text-sm text-ink-faint">
          People become subscribers when they start the bot. Send a campaign to it, or remove conditions.
        </p>
      )}
      <RefusalNote refused={query.error} />
    </div>
  )
}

type StartProps = {
  broadcast: BroadcastRow
  draft: Draft
  counted: AudienceCount | undefined
  saveFirst: () => Promise<void>
}

function StartButton({ broadcast: { id, state, name }, draft, counted, saveFirst }: StartProps) {
  const { role } = useActive()
  const confirm = useConfirm()
  const refresh = useRefresh()
  const unschedule = useMutation({
    mutationFn: () => call(updateBroadcast, { params: { id }, body: { starts_at: null } }),
    onSuccess: () => refresh(...SHOW_BROADCASTS),
  })
  const reason = reasonAgainst(startBroadcast, role)
  if (state === 'scheduled')
    return (
      <Button reason={reason} pending={unschedule.isPending} onClick={() => unschedule.mutate()}>
        Unschedule
      </Button>
    )
  const { starts_at, paid } = draft
  const isLater = starts_at !== null
  const fault = broadcastFault(draft.message)
  const people = counted?.count ?? 0
  const missing = fault !== undefined ? sentence(fault) : people === 0 ? 'The audience is empty.' : undefined
  const cost = paid && counted?.stars != null ? `, for at most ${count(counted.stars)} Stars` : ''
  return (
    <Button
      look="primary"
      reason={reason ?? missing}
      onClick={() =>
        confirm({
          title: isLater ? `Schedule ${name}?` : `Start ${name}?`,
          words: (
            <>
              <strong>{count(people)}</strong> people get it{isLater ? ` from ${moment(starts_at)}` : ''}, within about{' '}
              {span(counted?.seconds ?? 0)}
              {cost}. You can pause or stop it, but messages already sent cannot be recalled.
            </>
          ),
          action: isLater ? 'Schedule' : 'Start',
          look: 'primary',
          ...(paid ? { typed: 'PAID' } : {}),
          deed: async () => {
            await saveFirst()
            const body = { expected_recipients: people, ...(paid ? { confirmation: 'PAID' } : {}) }
            return await call(startBroadcast, { params: { id }, body })
          },
          refresh: SHOW_BROADCASTS,
          news: isLater ? 'Broadcast scheduled' : 'Broadcast started',
        })
      }
    >
      {isLater ? 'Schedule' : 'Start'}
    </Button>
  )
}

/** Deletes a draft, or stops a scheduled broadcast for good. */
function EndPart({ broadcast: { id, name, state } }: { broadcast: BroadcastRow }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const navigate = useNavigate()
  if (state === 'scheduled')
    return (
      <Button
        look="danger"
        reason={reasonAgainst(stopBroadcast, role)}
        onClick={() =>
          confirm({
            title: `Stop ${name}?`,
            words: 'Nobody gets it, and it cannot be started again. Unschedule it to make it a draft instead.',
            action: 'Stop',
            deed: () => call(stopBroadcast, { params: { id } }),
            refresh: SHOW_BROADCASTS,
            news: 'Broadcast stopped',
          })
        }
      >
        Stop
      </Button>
    )
  return (
    <Button
      look="danger"
      reason={reasonAgainst(deleteBroadcast, role)}
      onClick={() =>
        confirm({
          title: `Delete ${name}?`,
          words: 'It was sent to nobody.',
          action: 'Delete',
          deed: async () => {
            await call(deleteBroadcast, { params: { id } })
            await navigate({ to: '/broadcasts' })
          },
          refresh: [listBroadcasts],
          news: 'Broadcast deleted',
        })
      }
    >
      Delete
    </Button>
  )
}

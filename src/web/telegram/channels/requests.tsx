/** Who asks to be let into a channel, and deciding about many of them at once. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import {
  CERTAINTIES,
  type Certainty,
  decideJoinRequests,
  type JoinRequest,
  listJoinRequests,
} from '../../../telegram/members/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { certaintyName } from '../../ground/certainty.tsx'
import { ago, count, moment, NONE } from '../../ground/figures/figures.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Asked, Section } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ClickCell, TimeCell } from './members.tsx'

type RequestRow = z.input<typeof JoinRequest>
type State = RequestRow['state']
type Decision = 'approve' | 'decline'

const STATES: Record<State, [tone: Tone, words: string]> = {
  pending: ['accent', 'Waiting'],
  approved: ['good', 'Let in'],
  declined: ['plain', 'Declined'],
  gone: ['warn', 'Gone'],
}
const ORDER = ['pending', 'approved', 'declined', 'gone'] as const
const SHOWN = 10

type ChannelProps = { channel: { readonly id: string; readonly join_mode: 'open' | 'request' } }

/** Nothing where links let in at once and nobody has asked. */
export function ChannelRequests({ channel: { id, join_mode } }: ChannelProps) {
  const [state, setState] = useState<State | undefined>('pending')
  const [certainty, setCertainty] = useState<Certainty>()
  const [cursor, setCursor] = useState<string>()
  const narrowed = {
    ...(state === undefined ? {} : { state }),
    ...(certainty === undefined ? {} : { certainty }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  const requests = useQuery({
    ...ask(listJoinRequests, { query: { channel_id: id, limit: SHOWN, ...narrowed } }),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  })
  const from =
    <T,>(set: (next: T) => void) =>
    (next: T) => {
      setCursor(undefined)
      set(next)
    }
  const isUnused = join_mode === 'open' && state === 'pending' && certainty === undefined && cursor === undefined
  if (isUnused && (requests.data?.data.length ?? 0) === 0) return null
  const hasPending = requests.data?.data.some(one => one.state === 'pending') === true
  return (
    <Section
      title="Requests to join"
      words="The bot lets in whom you approve as fast as Telegram takes it."
      aside={
        <div className="flex flex-wrap items-center gap-2">
          {hasPending && <DecideAll id={id} certainty={certainty} />}
          <Choice
            label="State of the request"
            any="All requests"
            options={ORDER}
            words={one => STATES[one][1]}
            value={state}
            onChange={from(setState)}
          />
          <Choice
            label="Certainty of the request"
            any="Any certainty"
            options={CERTAINTIES}
            words={certaintyName}
            value={certainty}
            onChange={from(setCertainty)}
          />
        </div>
      }
    >
      <Asked query={requests}>
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <p className="text-ink-soft">{state === 'pending' ? 'Nobody waits.' : 'There are none.'}</p>
          ) : (
            <>
              <RequestTable channel={id} requests={data} />
              <Pager cursor={cursor} next={next_cursor} onGo={setCursor} />
            </>
          )
        }
      </Asked>
    </Section>
  )
}

const DOES: Record<Decision, { button: string; done: string }> = {
  approve: { button: 'Let all in', done: 'are being let in' },
  decline: { button: 'Decline all', done: 'are being declined' },
}

/** All that wait, or those of one certainty: not only those on this page. */
function DecideAll({ id, certainty }: { id: string; certainty: Certainty | undefined }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const whom =
    certainty === undefined ? 'Everybody who waits' : `Everybody who waits and is “${certaintyName(certainty)}”`
  const decide = (decision: Decision) =>
    confirm({
      title: `${DOES[decision].button}?`,
      words: `${whom} ${decision === 'approve' ? 'is let into the channel' : 'is declined, and may ask again'}.`,
      action: DOES[decision].button,
      look: decision === 'approve' ? 'primary' : 'danger',
      deed: async () => {
        const filter = certainty === undefined ? {} : { filter: { certainty } }
        const { requests } = await call(decideJoinRequests, { body: { channel_id: id, decision, ...filter } })
        notify(`${count(requests)} ${DOES[decision].done}`)
      },
      refresh: [listJoinRequests],
    })
  const reason = reasonAgainst(decideJoinRequests, role)
  return (
    <>
      <Button reason={reason} onClick={() => decide('approve')}>
        Let all in
      </Button>
      <Button reason={reason} onClick={() => decide('decline')}>
        Decline all
      </Button>
    </>
  )
}

function RequestTable({ channel, requests }: { channel: string; requests: readonly RequestRow[] }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const decide = useMutation({
    mutationFn: ({ id, decision }: { id: string; decision: Decision }) =>
      call(decideJoinRequests, { body: { channel_id: channel, decision, filter: { ids: [id] } } }),
    onSuccess: () => refresh(listJoinRequests),
  })
  const reason = reasonAgainst(decideJoinRequests, role)
  return (
    <>
      <RefusalNote refused={decide.error} className="mb-3" />
      <Table caption="Requests to join">
        <thead>
          <tr>
            <Head stay>Telegram id</Head>
            <Head>State</Head>
            <Head>Asked</Head>
            <Head>Decided</Head>
            <Head>Known by</Head>
            <Head>Campaign</Head>
            <Head>Click</Head>
            <ActionHead />
          </tr>
        </thead>
        <tbody>
          {requests.map(request => (
            <Row key={request.id}>
              <RowHead stay className="font-mono text-sm font-normal!">
                {request.telegram_user_id}
              </RowHead>
              <StateCell request={request} />
              <TimeCell at={request.asked_at} />
              <DecidedCell request={request} />
              <Cell faint={request.certainty === 'organic' || request.certainty === null}>
                {request.certainty === null ? NONE : certaintyName(request.certainty)}
              </Cell>
              <Cell className="max-w-52 truncate" faint={request.campaign_name === null}>
                {request.campaign_name ?? NONE}
              </Cell>
              <ClickCell id={request.click_id} />
              <ActionCell>
                {request.state === 'pending' &&
                  (['approve', 'decline'] as const).map(decision => (
                    <Button
                      key={decision}
                      size="sm"
                      look="quiet"
                      reason={reason}
                      pending={
                        decide.isPending && decide.variables.id === request.id && decide.variables.decision === decision
                      }
                      onClick={() => decide.mutate({ id: request.id, decision })}
                    >
                      {decision === 'approve' ? 'Let in' : 'Decline'}
                    </Button>
                  ))}
              </ActionCell>
            </Row>
          ))}
        </tbody>
      </Table>
    </>
  )
}

function StateCell({ request: { state, reason, due_at } }: { request: RequestRow }) {
  const [tone, words] = STATES[state]
  const waits = state === 'pending' && due_at !== null && reason === null
  return (
    <Cell>
      <Badge tone={tone}>{words}</Badge> {reason !== null && <span className="text-ink-faint">{reason}</span>}
      {waits && (
        <span className="text-ink-faint" title={moment(due_at)}>
          by itself {ago(due_at)}
        </span>
      )}
    </Cell>
  )
}

const DECIDERS: Readonly<Record<string, string>> = { rule: 'by itself', telegram: 'at Telegram' }

function DecidedCell({ request: { decided_at, decided_by } }: { request: RequestRow }) {
  if (decided_at === null) return <Cell faint>{NONE}</Cell>
  const by = decided_by === null ? '' : (DECIDERS[decided_by] ?? `by ${decided_by}`)
  return (
    <Cell title={moment(decided_at)}>
      {ago(decided_at)} <span className="text-ink-faint">{by}</span>
    </Cell>
  )
}

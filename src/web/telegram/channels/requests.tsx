/** Join requests of a channel, decided one by one or all at once. */
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
import { Loaded, Section } from '../../ground/ui/page.tsx'
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
  approved: ['good', 'Approved'],
  declined: ['plain', 'Declined'],
  gone: ['warn', 'Withdrawn'],
}
const ORDER = ['pending', 'approved', 'declined', 'gone'] as const
const PAGE_SIZE = 10

type ChannelProps = { channel: { readonly id: string; readonly join_mode: 'open' | 'request' } }

/** Hidden if links let in at once and there is no request. */
export function ChannelRequests({ channel: { id, join_mode } }: ChannelProps) {
  const [state, setState] = useState<State | undefined>('pending')
  const [certainty, setCertainty] = useState<Certainty>()
  const [cursor, setCursor] = useState<string>()
  const filters = {
    ...(state === undefined ? {} : { state }),
    ...(certainty === undefined ? {} : { certainty }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  const requests = useQuery({
    ...ask(listJoinRequests, { query: { channel_id: id, limit: PAGE_SIZE, ...filters } }),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  })
  const withFirstPage =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setCursor(undefined)
      set(value)
    }
  const isUnused = join_mode === 'open' && state === 'pending' && certainty === undefined && cursor === undefined
  if (isUnused && (requests.data?.data.length ?? 0) === 0) return null
  const hasPending = requests.data?.data.some(one => one.state === 'pending') === true
  return (
    <Section
      title="Join requests"
      words="Approvals go out as fast as Telegram allows."
      aside={
        <div className="flex flex-wrap items-center gap-2">
          {hasPending && <DecideAll id={id} certainty={certainty} />}
          <Choice
            label="Request state"
            any="All requests"
            options={ORDER}
            words={one => STATES[one][1]}
            value={state}
            onChange={withFirstPage(setState)}
          />
          <Choice
            label="Request attribution"
            any="Any attribution"
            options={CERTAINTIES}
            words={certaintyName}
            value={certainty}
            onChange={withFirstPage(setCertainty)}
          />
        </div>
      }
    >
      <Loaded query={requests}>
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <p className="text-ink-soft">
              {state === 'pending' ? 'No requests are waiting.' : 'No request matches these filters.'}
            </p>
          ) : (
            <>
              <RequestTable channel={id} requests={data} />
              <Pager cursor={cursor} next={next_cursor} onGo={setCursor} />
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

const DECISION_WORDS: Record<Decision, { button: string; done: string }> = {
  approve: { button: 'Approve all', done: 'requests are being approved' },
  decline: { button: 'Decline all', done: 'requests are being declined' },
}

/** Decides every waiting request, or every one of a certainty, not only those on this page. */
function DecideAll({ id, certainty }: { id: string; certainty: Certainty | undefined }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const which =
    certainty === undefined ? 'All waiting requests' : `All waiting requests of “${certaintyName(certainty)}”`
  const decide = (decision: Decision) =>
    confirm({
      title: `${DECISION_WORDS[decision].button}?`,
      words: `${which} are ${decision === 'approve' ? 'approved' : 'declined. Declined people may ask again'}.`,
      action: DECISION_WORDS[decision].button,
      look: decision === 'approve' ? 'primary' : 'danger',
      deed: async () => {
        const filter = certainty === undefined ? {} : { filter: { certainty } }
        const { requests } = await call(decideJoinRequests, { body: { channel_id: id, decision, ...filter } })
        notify(`${count(requests)} ${DECISION_WORDS[decision].done}`)
      },
      refresh: [listJoinRequests],
    })
  const reason = reasonAgainst(decideJoinRequests, role)
  return (
    <>
      <Button reason={reason} onClick={() => decide('approve')}>
        Approve all
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
      <Table caption="Join requests">
        <thead>
          <tr>
            <Head stay>Telegram id</Head>
            <Head>State</Head>
            <Head>Requested</Head>
            <Head>Decided</Head>
            <Head>Attribution</Head>
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
                      {decision === 'approve' ? 'Approve' : 'Decline'}
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
  const isScheduled = state === 'pending' && due_at !== null && reason === null
  return (
    <Cell>
      <Badge tone={tone}>{words}</Badge> {reason !== null && <span className="text-ink-faint">{reason}</span>}
      {isScheduled && (
        <span className="text-ink-faint" title={moment(due_at)}>
          automatically {ago(due_at)}
        </span>
      )}
    </Cell>
  )
}

const DECIDERS: Readonly<Record<string, string>> = { rule: 'automatically', telegram: 'in Telegram' }

function DecidedCell({ request: { decided_at, decided_by } }: { request: RequestRow }) {
  if (decided_at === null) return <Cell faint>{NONE}</Cell>
  const by = decided_by === null ? '' : (DECIDERS[decided_by] ?? `by ${decided_by}`)
  return (
    <Cell title={moment(decided_at)}>
      {ago(decided_at)} <span className="text-ink-faint">{by}</span>
    </Cell>
  )
}

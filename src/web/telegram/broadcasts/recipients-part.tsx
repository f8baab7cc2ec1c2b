/** The recipients of a broadcast, counted by outcome and listed. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { useState } from 'react'
import { listSends, resendUnknown, type SendState } from '../../../telegram/broadcasts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count, exactMoment, NONE, percent, ratio } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Loaded, Section } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { type BroadcastRow, SHOW_BROADCASTS } from './state.tsx'

const OUTCOMES: readonly [SendState, words: string, title: string][] = [
  ['sent', 'Sent', 'Telegram accepted the message'],
  ['blocked', 'Blocked', 'They had blocked the bot'],
  ['gone', 'Gone', 'Their account was deleted'],
  ['failed', 'Failed', 'Telegram rejected the message'],
  ['unknown', 'Unknown', 'Telegram’s answer was lost: the message may have arrived'],
  ['skipped', 'Skipped', 'They unsubscribed or blocked the bot before their turn, or the broadcast was stopped'],
  ['queued', 'Waiting', 'Not sent yet'],
]

export function RecipientsPart({ broadcast, outcome }: { broadcast: BroadcastRow; outcome: SendState | undefined }) {
  const { id, counts, recipients } = broadcast
  return (
    <Section title="Recipients" words="Click a figure to list the people. Stored until 90 days after the end.">
      <ul className="mb-3 grid grid-cols-2 gap-2 sm:grid-cols-4 xl:grid-cols-7">
        {OUTCOMES.map(([state, words, title]) => {
          const value = counts[state as keyof typeof counts]
          return (
            <li key={state}>
              <Link
                to="/broadcasts/$id"
                params={{ id }}
                search={{ state: outcome === state ? undefined : state }}
                resetScroll={false}
                title={title}
                aria-current={outcome === state || undefined}
                className={clsx(
                  'block rounded-lg border px-3 py-2 hover:border-accent',
                  outcome === state ? 'border-accent bg-accent-soft' : 'border-line bg-surface',
                )}
              >
                <span className="block text-sm text-ink-soft">{words}</span>
                <span className={clsx('block text-lg tabular-nums', value === 0 && 'text-ink-faint')}>
                  {count(value)}
                </span>
                <span className="block text-sm text-ink-faint">
                  {value === 0 ? NONE : percent(ratio(value, recipients))}
                </span>
              </Link>
            </li>
          )
        })}
      </ul>
      {counts.unknown > 0 && <UnknownSends broadcast={broadcast} />}
      {outcome !== undefined && <Sends key={outcome} id={id} state={outcome} />}
    </Section>
  )
}

function UnknownSends({ broadcast: { id, counts, state } }: { broadcast: BroadcastRow }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const isOne = counts.unknown === 1
  return (
    <Note>
      <p>
        Telegram’s answer to {isOne ? 'one message' : `${count(counts.unknown)} messages`} was lost when the connection
        or Sluice was interrupted. {isOne ? 'It' : 'Each'} may have arrived, and there is no way to check, so nothing
        was sent again.
      </p>
      {state !== 'stopped' && (
        <Button
          size="sm"
          className="mt-2"
          reason={reasonAgainst(resendUnknown, role)}
          onClick={() =>
            confirm({
              title: 'Send again?',
              words: (
                <>
                  <strong>{count(counts.unknown)}</strong> people get the message again. Those who already have it get
                  it twice.
                </>
              ),
              action: 'Send again',
              look: 'primary',
              deed: () => call(resendUnknown, { params: { id } }),
              refresh: [...SHOW_BROADCASTS, listSends],
              news: 'Sending again',
            })
          }
        >
          Send again
        </Button>
      )}
    </Note>
  )
}

function Sends({ id, state }: { id: string; state: SendState }) {
  const [cursor, setCursor] = useState<string>()
  const sends = useQuery({
    ...ask(listSends, { params: { id }, query: { state, ...(cursor === undefined ? {} : { cursor }) } }),
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={sends}>
      {({ data, next_cursor }) =>
        data.length === 0 ? (
          <p className="py-3 text-ink-faint">Nobody.</p>
        ) : (
          <>
            <Table caption="Recipients" className="mt-3">
              <thead>
                <tr>
                  <Head stay>Person</Head>
                  <Head>Click</Head>
                  <Head>Reason</Head>
                  <Head>Time</Head>
                </tr>
              </thead>
              <tbody>
                {data.map(({ id: subscriber, telegram_user_id, name, click_id, reason, at }) => (
                  <Row key={subscriber}>
                    <RowHead stay>{name ?? telegram_user_id}</RowHead>
                    <Cell faint={click_id === null}>
                      {click_id === null ? (
                        NONE
                      ) : (
                        <Link
                          to="/clicks/$id"
                          params={{ id: click_id }}
                          className="font-mono text-sm hover:text-accent"
                        >
                          {click_id}
                        </Link>
                      )}
                    </Cell>
                    <Cell faint={reason === null}>{reason ?? NONE}</Cell>
                    <Cell>{exactMoment(at)}</Cell>
                  </Row>
                ))}
              </tbody>
            </Table>
            <Pager cursor={cursor} next={next_cursor} onGo={setCursor} />
          </>
        )
      }
    </Loaded>
  )
}

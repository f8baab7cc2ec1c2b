/** The people who joined a channel or left it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import { CERTAINTIES, type Certainty, type ChannelMember, listChannelMembers } from '../../../telegram/members/api.ts'
import { ask } from '../../ground/call.ts'
import { certaintyName } from '../../ground/certainty.tsx'
import { ago, count, moment, NONE } from '../../ground/figures/figures.ts'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { Loaded, Section } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

type MemberRow = z.input<typeof ChannelMember>
type State = MemberRow['state']

const STATES: Record<State, [tone: Tone, words: string]> = {
  in: ['good', 'In'],
  left: ['plain', 'Left'],
  kicked: ['warn', 'Removed'],
}
const PAGE_SIZE = 10

export function ChannelMembers({ channel: { id } }: { channel: { readonly id: string } }) {
  const [state, setState] = useState<State>()
  const [certainty, setCertainty] = useState<Certainty>()
  const [cursor, setCursor] = useState<string>()
  const filters = {
    ...(state === undefined ? {} : { state }),
    ...(certainty === undefined ? {} : { certainty }),
    ...(cursor === undefined ? {} : { cursor }),
  }
  const members = useQuery({
    ...ask(listChannelMembers, { params: { id }, query: { limit: PAGE_SIZE, ...filters } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
  const withFirstPage =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setCursor(undefined)
      set(value)
    }
  return (
    <Section
      title="Members"
      words="People who joined since the channel was added, and people with a recorded join from before."
      aside={
        <div className="flex flex-wrap gap-2">
          <Choice
            label="State"
            any="Any state"
            options={['in', 'left', 'kicked']}
            words={one => STATES[one][1]}
            value={state}
            onChange={withFirstPage(setState)}
          />
          <Choice
            label="Attribution"
            any="Any attribution"
            options={CERTAINTIES}
            words={certaintyName}
            value={certainty}
            onChange={withFirstPage(setCertainty)}
          />
        </div>
      }
    >
      <Loaded query={members} what="channel">
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <p className="text-ink-soft">
              {state === undefined && certainty === undefined
                ? 'Nobody has joined yet.'
                : 'No member matches these filters.'}
            </p>
          ) : (
            <>
              <MemberTable members={data} />
              <Pager cursor={cursor} next={next_cursor} onGo={setCursor} />
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

function MemberTable({ members }: { members: readonly MemberRow[] }) {
  return (
    <Table caption="Members">
      <thead>
        <tr>
          <Head stay>Telegram id</Head>
          <Head>State</Head>
          <Head>Joined</Head>
          <Head>Left</Head>
          <Head numeric>Joins</Head>
          <Head>Attribution</Head>
          <Head>Campaign</Head>
          <Head>Click</Head>
        </tr>
      </thead>
      <tbody>
        {members.map(
          ({ id, telegram_user_id, state, joined_at, left_at, times, certainty, campaign_name, click_id }) => (
            <Row key={id}>
              <RowHead stay className="font-mono text-sm font-normal!">
                {telegram_user_id}
              </RowHead>
              <Cell>
                <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>
              </Cell>
              <TimeCell at={joined_at} />
              <TimeCell at={left_at} />
              <Cell numeric faint={times <= 1}>
                {count(times)}
              </Cell>
              <Cell faint={certainty === 'organic' || certainty === null}>
                {certainty === null ? NONE : certaintyName(certainty)}
              </Cell>
              <Cell className="max-w-52 truncate" faint={campaign_name === null}>
                {campaign_name ?? NONE}
              </Cell>
              <ClickCell id={click_id} />
            </Row>
          ),
        )}
      </tbody>
    </Table>
  )
}

export function TimeCell({ at }: { at: string | null }) {
  return at === null ? <Cell faint>{NONE}</Cell> : <Cell title={moment(at)}>{ago(at)}</Cell>
}

export function ClickCell({ id }: { id: string | null }) {
  return (
    <Cell className="font-mono text-sm" faint={id === null}>
      {id === null ? (
        NONE
      ) : (
        <Link to="/clicks/$id" params={{ id }} className="text-accent hover:underline">
          {id}
        </Link>
      )}
    </Cell>
  )
}

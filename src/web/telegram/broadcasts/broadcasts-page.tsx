/** The list of the workspace's broadcasts. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { listBots } from '../../../telegram/bots/api.ts'
import { createBroadcast, listBroadcasts } from '../../../telegram/broadcasts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, count, moment, NONE } from '../../ground/figures/figures.ts'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage } from '../../ground/ui/list-page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { type BroadcastRow, isOpen, isUnderWay, Progress, BroadcastStateBadge } from './state.tsx'

const route = getRouteApi('/inside/broadcasts')
const RUNNING_POLL_MS = 3000
const MOST_BOTS = 200

export const useBroadcastBots = () => useQuery(ask(listBots, { query: { limit: MOST_BOTS } }))

export function BroadcastsPage() {
  const address = useListAddress(route.useSearch())
  const broadcasts = useQuery({
    ...ask(listBroadcasts, { query: address.search }),
    placeholderData: keepPreviousData,
    refetchInterval: query => (query.state.data?.data.some(isUnderWay) === true ? RUNNING_POLL_MS : false),
  })
  return (
    <ListPage
      title="Broadcasts"
      words="One message to many subscribers of a bot. Each message is recorded before it is sent, so nobody gets it twice."
      query={broadcasts}
      address={address}
      empty={{
        icon: Send,
        words:
          'Write a message, see the size of its audience, send yourself a test, and start it. Everyone who starts a bot becomes its subscriber.',
      }}
      add={{
        endpoint: createBroadcast,
        words: 'New broadcast',
        dialog: ({ open, onClose }) => (
          <Dialog open={open} onClose={onClose} title="New broadcast">
            <NewForm onClose={onClose} />
          </Dialog>
        ),
      }}
    >
      {rows => <BroadcastTable broadcasts={rows} />}
    </ListPage>
  )
}

function NewForm({ onClose }: { onClose: () => void }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const navigate = useNavigate()
  const bots = useBroadcastBots().data?.data ?? []
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string>()
  const bot_id = chosen ?? bots[0]?.id ?? ''
  const create = useMutation({
    mutationFn: () => call(createBroadcast, { body: { bot_id, name, message: { text: '' } } }),
    onSuccess: async ({ id }) => {
      await refresh(listBroadcasts)
      onClose()
      await navigate({ to: '/broadcasts/$id', params: { id } })
    },
  })
  const missing = bot_id === '' ? 'Add a bot first.' : name.trim() === '' ? 'Give it a name.' : undefined
  return (
    <DialogForm
      onSubmit={() => {
        if (missing === undefined) create.mutate()
      }}
    >
      <DialogBody>
        <TextField
          label="Name"
          hint="Recipients do not see it."
          value={name}
          onChange={event => setName(event.target.value)}
        />
        {bots.length === 0 ? (
          <Note>
            Broadcasts are sent by a bot: <Link to="/bots">add one first</Link>.
          </Note>
        ) : (
          <SelectField label="Bot" value={bot_id} onChange={event => setChosen(event.target.value)}>
            {bots.map(({ id, username }) => (
              <option key={id} value={id}>
                @{username}
              </option>
            ))}
          </SelectField>
        )}
        <RefusalNote refused={create.error} />
      </DialogBody>
      <SaveFoot
        action="Create"
        pending={create.isPending}
        reason={reasonAgainst(createBroadcast, role) ?? missing}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

function BroadcastTable({ broadcasts }: { broadcasts: readonly BroadcastRow[] }) {
  const bots = new Map(useBroadcastBots().data?.data.map(({ id, username }) => [id, `@${username}`]))
  return (
    <Table caption="Broadcasts">
      <thead>
        <tr>
          <Head stay>Broadcast</Head>
          <Head>State</Head>
          <Head>Progress</Head>
          <Head numeric>Sent</Head>
          <Head numeric title="They had blocked the bot">
            Blocked
          </Head>
          <Head numeric title="Telegram’s answer was lost: the message may have arrived">
            Unknown
          </Head>
          <Head>Bot</Head>
          <Head>When</Head>
        </tr>
      </thead>
      <tbody>
        {broadcasts.map(broadcast => (
          <BroadcastLine key={broadcast.id} broadcast={broadcast} bot={bots.get(broadcast.bot_id) ?? NONE} />
        ))}
      </tbody>
    </Table>
  )
}

function BroadcastLine({ broadcast, bot }: { broadcast: BroadcastRow; bot: string }) {
  const { id, name, counts } = broadcast
  const figure = (value: number) => (
    <Cell numeric faint={value === 0}>
      {isOpen(broadcast) ? NONE : count(value)}
    </Cell>
  )
  return (
    <Row>
      <RowHead stay>
        <Link to="/broadcasts/$id" params={{ id }} className="hover:text-accent">
          {name}
        </Link>
      </RowHead>
      <Cell>
        <BroadcastStateBadge broadcast={broadcast} />
      </Cell>
      <Cell faint={isOpen(broadcast)}>{isOpen(broadcast) ? NONE : <Progress broadcast={broadcast} />}</Cell>
      {figure(counts.sent)}
      {figure(counts.blocked)}
      {figure(counts.unknown)}
      <Cell>{bot}</Cell>
      <Cell>{whenOf(broadcast)}</Cell>
    </Row>
  )
}

function whenOf({ state, starts_at, started_at, ended_at, created_at }: BroadcastRow): string {
  if (state === 'scheduled' && starts_at !== null) return moment(starts_at)
  if (started_at === null) return `created ${ago(created_at)}`
  return ended_at === null ? `started ${ago(started_at)}` : `ended ${ago(ended_at)}`
}

/** Receivers: who is told about alerts, when, and whether that works. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { BellRing, FlaskConical, KeyRound, Pencil } from 'lucide-react'
import { useState } from 'react'
import { ALERT_WORDS } from '../../../contract/alerts.ts'
import {
  createReceiver,
  deleteReceiver,
  listReceivers,
  rotateReceiver,
  testReceiver,
} from '../../../automation/receivers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { HistoryItem } from '../../ground/history/object-history.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage, OpenName } from '../../ground/ui/list-page.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { useBots } from '../../telegram/bots/bot-choice.tsx'
import { ToldSection } from '../alerts/told-section.tsx'
import { type ReceiverRow, RECEIVER_WORDS } from './form-values.ts'
import { EditReceiver, NewReceiver } from './receiver-dialog.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { TestDialog } from './test-dialog.tsx'

const route = getRouteApi('/inside/automation/receivers')

export function ReceiversPage() {
  const address = useListAddress(route.useSearch())
  const receivers = useQuery({
    ...ask(listReceivers, { query: address.search }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <ListPage
        title="Receivers"
        words="Who is told when something goes wrong or a rule acts: one message when it begins, one when it gets much worse, one when it is over."
        query={receivers}
        address={address}
        empty={{ icon: BellRing, words: 'Be told by mail, in a Telegram chat, or by a call to your own program.' }}
        add={{
          endpoint: createReceiver,
          words: 'New receiver',
          dialog: ({ open, onClose }) => <NewReceiver open={open} onClose={onClose} />,
        }}
      >
        {rows => (
          <Table caption="Receivers">
            <thead>
              <tr>
                <Head stay>Name</Head>
                <Head>State</Head>
                <Head>Sent to</Head>
                <Head>About</Head>
                <Head>When</Head>
                <ActionHead />
              </tr>
            </thead>
            <tbody>
              {rows.map(receiver => (
                <ReceiverLine key={receiver.id} receiver={receiver} />
              ))}
            </tbody>
          </Table>
        )}
      </ListPage>
      <ToldSection />
    </>
  )
}

function ReceiverLine({ receiver }: { receiver: ReceiverRow }) {
  const bots = useBots()
  const [editing, setEditing] = useState(false)
  const { state, last_error } = receiver
  const place = placeOf(receiver, id => bots.find(bot => bot.id === id)?.username)
  return (
    <Row>
      <RowHead stay>
        <OpenName onOpen={() => setEditing(true)}>{receiver.name}</OpenName>
      </RowHead>
      <Cell className="max-w-80 truncate" title={last_error ?? undefined}>
        <Badge tone={state === 'works' ? 'good' : 'bad'}>{state === 'works' ? 'Works' : 'Fails'}</Badge>
        {last_error !== null && <span className="ml-2 text-ink-faint">{last_error}</span>}
      </Cell>
      <Cell className="max-w-80 truncate" title={place}>
        {RECEIVER_WORDS[receiver.type]} <span className="text-ink-faint">{place}</span>
      </Cell>
      <Cell className="max-w-60 truncate">{aboutInWords(receiver)}</Cell>
      <Cell>{whenInWords(receiver)}</Cell>
      <ActionCell>
        <ReceiverMenu receiver={receiver} onEdit={() => setEditing(true)} />
        <EditReceiver receiver={receiver} open={editing} onClose={() => setEditing(false)} />
      </ActionCell>
    </Row>
  )
}

function placeOf(receiver: ReceiverRow, botOf: (id: string) => string | undefined): string {
  if (receiver.type === 'mail') return receiver.email
  if (receiver.type === 'webhook') return URL.parse(receiver.url)?.host ?? receiver.url
  return `${receiver.chat_id} by @${botOf(receiver.bot_id) ?? '…'}`
}

function aboutInWords({ about }: ReceiverRow): string {
  if (about === null) return 'All alerts'
  return about.length === 0 ? 'Rules that name it' : about.map(kind => ALERT_WORDS[kind]).join(', ')
}

function whenInWords({ quiet_hours, digest }: ReceiverRow): string {
  const quiet = quiet_hours === null ? [] : [`not ${quiet_hours.from}–${quiet_hours.to}`]
  return [digest === null ? 'At once' : `Digest at ${digest.at}`, ...quiet].join(', ')
}

function ReceiverMenu({ receiver, onEdit }: { receiver: ReceiverRow; onEdit: () => void }) {
  const confirm = useConfirm()
  const { role } = useActive()
  const [testing, setTesting] = useState(false)
  const [secret, setSecret] = useState<string>()
  const { id, name, type } = receiver
  const rotate = async () => {
    const rotated = await call(rotateReceiver, { params: { id } })
    if (rotated.type === 'webhook') setSecret(rotated.secret)
  }
  const confirmRotate = () =>
    confirm({
      title: `New secret for ${name}?`,
      words: 'For 24 hours each call is signed with both secrets. Then the current one is gone.',
      action: 'Make new secret',
      look: 'primary',
      deed: rotate,
      refresh: [listReceivers],
    })
  return (
    <>
      <RowMenu name={name}>
        <MenuItem icon={Pencil} onSelect={onEdit}>
          Edit
        </MenuItem>
        <MenuItem icon={FlaskConical} reason={reasonAgainst(testReceiver, role)} onSelect={() => setTesting(true)}>
          Send test…
        </MenuItem>
        {type === 'webhook' && (
          <MenuItem icon={KeyRound} reason={reasonAgainst(rotateReceiver, role)} onSelect={confirmRotate}>
            New secret…
          </MenuItem>
        )}
        <HistoryItem kind="receiver" id={id} />
        <MenuLine />
        <DeleteItem
          name={name}
          what="receiver"
          words="It is told nothing more, and its waiting messages are deleted. Rules that name it leave it out."
          endpoint={deleteReceiver}
          refresh={[listReceivers]}
          deed={() => call(deleteReceiver, { params: { id } })}
        />
      </RowMenu>
      <TestDialog receiver={receiver} open={testing} onClose={() => setTesting(false)} />
      <SecretDialog name={name} secret={secret} onClose={() => setSecret(undefined)} />
    </>
  )
}

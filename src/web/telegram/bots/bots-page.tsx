/** Telegram bots: their link for campaigns, and whether Telegram tells Sluice of their starts. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Bot as BotIcon, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { type Bot, BotDraft, createBot, deleteBot, listBots, setBotHook } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { AddButton, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'

type BotRow = z.input<typeof Bot>
type Draft = z.input<typeof BotDraft>

const route = getRouteApi('/inside/bots')

export function BotsPage() {
  const address = useListAddress(route.useSearch())
  const bots = useQuery({ ...ask(listBots, { query: address.search }), placeholderData: keepPreviousData })
  const [adding, setAdding] = useState(false)
  const add = (
    <AddButton endpoint={createBot} onClick={() => setAdding(true)}>
      Add bot
    </AddButton>
  )
  return (
    <>
      <PageHeader
        title="Bots"
        words="A start through a bot’s link is recorded by itself and belongs to the click it came from."
      >
        {add}
      </PageHeader>
      <List
        query={bots}
        address={address}
        what="bots"
        empty={
          <EmptyState
            icon={BotIcon}
            title="No bots yet"
            words="Add one with the token BotFather gave, and send a campaign to its link."
          >
            {add}
          </EmptyState>
        }
      >
        {rows => <BotTable bots={rows} />}
      </List>
      <Dialog open={adding} onClose={() => setAdding(false)} title="Add bot">
        <BotForm onClose={() => setAdding(false)} />
      </Dialog>
    </>
  )
}

function BotTable({ bots }: { bots: readonly BotRow[] }) {
  return (
    <Table caption="Bots">
      <thead>
        <tr>
          <Head stay>Bot</Head>
          <Head>Starts</Head>
          <Head>Link for campaigns</Head>
          <Head>Added</Head>
          <Head unseen>Actions</Head>
        </tr>
      </thead>
      <tbody>
        {bots.map(bot => (
          <BotLine key={bot.id} bot={bot} />
        ))}
      </tbody>
    </Table>
  )
}

function BotLine({ bot }: { bot: BotRow }) {
  const refresh = useRefresh()
  const confirm = useConfirm()
  const { role } = useActive()
  const hook = useMutation({
    mutationFn: () => call(setBotHook, { params: { id: bot.id } }),
    onSuccess: async asked => {
      await refresh(listBots)
      notify(
        asked.hook_state === 'set' ? 'Telegram sends the starts here' : 'Telegram does not send the starts here',
        asked.hook_error ?? undefined,
      )
    },
    onError: refused => notify('Telegram was not asked', refused.message),
  })
  const remove = () =>
    confirm({
      title: `Delete @${bot.username}?`,
      words: 'Its clicks and starts stay. A click whose bot was deleted names no bot.',
      action: 'Delete bot',
      deed: () => call(deleteBot, { params: { id: bot.id } }),
      refresh: [listBots],
      news: `@${bot.username} is deleted`,
    })
  return (
    <Row>
      <RowHead stay>@{bot.username}</RowHead>
      <Cell className="min-w-64 py-1.5 whitespace-normal!">
        {bot.hook_state === 'set' ? <Badge tone="good">Recorded</Badge> : <Badge tone="warn">Not recorded</Badge>}
        {bot.hook_error !== null && <span className="block text-sm text-ink-faint">{bot.hook_error}</span>}
      </Cell>
      <Cell>
        <span className="flex items-center gap-1">
          <span className="max-w-60 truncate font-mono text-sm text-ink-soft" title={bot.link}>
            {bot.link}
          </span>
          <CopyButton text={bot.link} look="quiet" about={`the link of ${bot.username}`} />
        </span>
      </Cell>
      <Cell>{day(bot.created_at)}</Cell>
      <Cell>
        <span className="flex justify-end gap-1">
          <Button
            size="sm"
            look="quiet"
            icon={RefreshCw}
            pending={hook.isPending}
            reason={reasonAgainst(setBotHook, role)}
            onClick={() => hook.mutate()}
          >
            Ask Telegram again
          </Button>
          <Button
            size="sm"
            look="danger-quiet"
            icon={Trash2}
            aria-label={`Delete ${bot.username}`}
            reason={reasonAgainst(deleteBot, role)}
            onClick={remove}
          >
            Delete
          </Button>
        </span>
      </Cell>
    </Row>
  )
}

function BotForm({ onClose }: { onClose: () => void }) {
  const form = useDraft<Draft>(BotDraft, { token: '', username: '' })
  const errors = form.formState.errors
  return (
    <DraftForm
      form={form}
      action="Add bot"
      endpoint={createBot}
      deed={body => call(createBot, { body })}
      refresh={[listBots]}
      onClose={onClose}
      onSaved={bot => notify(`@${bot.username} is added`, bot.hook_error ?? undefined)}
    >
      <TextField
        label="Name"
        placeholder="@example_bot"
        autoComplete="off"
        error={errors.username?.message}
        {...form.register('username')}
      />
      <TextField
        label="Token"
        type="password"
        hint="From BotFather. It is kept encrypted and never shown again."
        autoComplete="off"
        error={errors.token?.message}
        {...form.register('token')}
      />
    </DraftForm>
  )
}

/** One bot: its webhook, link, mode, welcome, subscribers, payments and token. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { MINUTE_MS } from '../../../contract/days.ts'
import { BotChanges, checkBot, deleteBot, readBot, setBotHook, updateBot } from '../../../telegram/bots/api.ts'
import { countSubscribers } from '../../../telegram/subscribers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { ago, count, day } from '../../ground/figures/figures.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify, notifyDone } from '../../ground/ui/toast.tsx'
import { CopySecret } from './copy-secret.tsx'
import { ModePart } from './mode-part.tsx'
import { RelayLog } from './relay-log.tsx'
import { MoneyPart } from './money-part.tsx'
import { PeoplePart } from './people-part.tsx'
import { RelayTypes } from './relay-types.tsx'
import { type BotRow, StartsBadge, SHOW_BOTS } from './state.tsx'
import { WelcomePart } from './welcome-part.tsx'

/** Campaigns named in the dialog that deletes a bot. */
const MOST_NAMED = 5

const route = getRouteApi('/inside/bots/$id')

export function BotPage() {
  const { id } = route.useParams()
  const bot = useQuery({ ...ask(readBot, { params: { id } }), refetchInterval: MINUTE_MS })
  return (
    <>
      <BackLink to="/bots">Bots</BackLink>
      <Loaded query={bot} title="Bot">
        {found => <BotDetail key={found.id} bot={found} />}
      </Loaded>
      <ObjectHistory kind="bot" id={id} />
    </>
  )
}

function BotDetail({ bot }: { bot: BotRow }) {
  const { username, name, created_at, last_update_at, mode } = bot
  const lastUpdate = last_update_at === null ? 'no update yet' : `last update ${ago(last_update_at)}`
  return (
    <>
      <PageHeader
        title={`@${username}`}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <StartsBadge bot={bot} />
            {[name, `added ${day(created_at)}`, lastUpdate].filter(part => part !== null).join(' · ')}
          </span>
        }
      >
        <CheckButton bot={bot} />
      </PageHeader>
      <Setting title="Webhook" words="The one URL Telegram sends the bot’s updates to. Checked every five minutes.">
        <HookPart bot={bot} />
      </Setting>
      <Setting title="Link" words="For campaigns, click flows and ads. The start carries the click id.">
        <CodeBlock text={bot.link} label="link" />
      </Setting>
      <Setting
        title="Run by"
        words="A bot has one webhook. If your own program runs the bot, choose how it keeps receiving updates."
      >
        <ModePart key={`${mode} ${bot.relay_host ?? ''}`} bot={bot} />
      </Setting>
      {mode === 'copy' && (
        <Setting title="Copies" words="Your program posts each update to this URL, unchanged.">
          <CopySecret bot={bot} />
        </Setting>
      )}
      {mode === 'relay' && (
        <Setting
          wide
          title="Forwarded updates"
          words="The latest of the last seven days. Message texts are not stored."
        >
          <RelayLog id={bot.id} />
        </Setting>
      )}
      {mode === 'relay' && (
        <Setting title="Forwarded types" words="All types of updates, unless you list some.">
          <RelayTypes key={bot.relay_types.join()} bot={bot} />
        </Setting>
      )}
      <Setting wide title="Welcome" words="The bot’s reply to a start.">
        <WelcomePart bot={bot} />
      </Setting>
      <Setting title="Subscribers" words={<SubscriberWords id={bot.id} />}>
        <PeoplePart bot={bot} />
      </Setting>
      <Setting title="Payments" words="A payment through the bot is recorded on the payer’s click.">
        <MoneyPart bot={bot} />
      </Setting>
      <Setting
        title="Token"
        words="Enter the new token after revoking the old one in BotFather. The bot stays the same: nobody is counted twice."
      >
        <TokenPart bot={bot} />
      </Setting>
      <Setting title="Delete" danger words="Its clicks and starts stay. Those clicks no longer name a bot.">
        <DeletePart bot={bot} />
      </Setting>
    </>
  )
}

function SubscriberWords({ id }: { id: string }) {
  const counts = useQuery(ask(countSubscribers)).data?.data.find(({ bot_id }) => bot_id === id)
  const parts = counts === undefined ? [] : [`${count(counts.reachable)} reachable`, `${count(counts.blocked)} blocked`]
  return (
    <>
      The people this bot can message.{' '}
      <Link to="/subscribers" search={{ bot: id }} className="text-accent hover:underline">
        {parts.length === 0 ? 'Subscribers' : parts.join(', ')}
      </Link>
    </>
  )
}

function CheckButton({ bot: { id } }: { bot: BotRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const check = useMutation({
    mutationFn: () => call(checkBot, { params: { id } }),
    onSuccess: () => refresh(...SHOW_BOTS),
  })
  return (
    <>
      <RefusalNote refused={check.error} />
      <Button pending={check.isPending} reason={reasonAgainst(checkBot, role)} onClick={() => check.mutate()}>
        Check now
      </Button>
    </>
  )
}

function HookPart({ bot }: { bot: BotRow }) {
  const { id, mode, hook_state, token_state, guard_hook, guarded_at } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const reason = reasonAgainst(setBotHook, role)
  const take = useMutation({
    mutationFn: () => call(setBotHook, { params: { id } }),
    onSuccess: () => refresh(...SHOW_BOTS),
  })
  const guard = useMutation({
    mutationFn: (on: boolean) => call(updateBot, { params: { id }, body: { guard_hook: on } }),
    onSuccess: () => refresh(...SHOW_BOTS),
  })
  const isLost = mode !== 'copy' && hook_state !== 'set' && token_state === 'ok'
  return (
    <div className="flex flex-col items-start gap-3" aria-live="polite">
      <HookWords bot={bot} />
      <RefusalNote refused={take.error ?? guard.error} />
      {isLost && (
        <Button look="primary" reason={reason} pending={take.isPending} onClick={() => take.mutate()}>
          {hook_state === 'not_set' ? 'Set the webhook' : 'Take the webhook back'}
        </Button>
      )}
      {mode !== 'copy' && (
        <Checkbox
          label="Take the webhook back automatically"
          words={
            guarded_at.length === 0
              ? 'At most three times an hour. Two programs that keep taking it from each other would both miss updates.'
              : `Taken back ${count(guarded_at.length)} of at most 3 times in the last hour.`
          }
          checked={guard_hook}
          reason={reason}
          onChange={event => guard.mutate(event.target.checked)}
        />
      )}
    </div>
  )
}

function HookWords({ bot }: { bot: BotRow }) {
  const { mode, hook_state, hook_error, token_state, pending_updates, last_error, hook_checked_at, former_host } = bot
  const stateWords =
    mode === 'copy'
      ? 'Sluice does not touch the webhook: your program has it, or the bot has none.'
      : hook_state === 'set'
        ? 'Telegram sends updates to Sluice.'
        : undefined
  const facts = [
    hook_checked_at === null ? undefined : `Checked ${ago(hook_checked_at)}.`,
    pending_updates === null || pending_updates === 0
      ? undefined
      : `${count(pending_updates)} updates are waiting at Telegram.`,
    former_host === null ? undefined : `${former_host} had it before and gets it back when you delete the bot.`,
  ].filter(fact => fact !== undefined)
  return (
    <>
      {token_state === 'revoked' && (
        <Note kind="warning">
          <strong>Telegram rejects the token.</strong> Get a new one from BotFather and enter it below.
        </Note>
      )}
      {stateWords !== undefined && <p>{stateWords}</p>}
      {stateWords === undefined && hook_error !== null && (
        <Note kind="warning">
          <strong>Starts are not recorded.</strong> {hook_error}
        </Note>
      )}
      {last_error !== null && pending_updates !== null && pending_updates > 0 && (
        <Note kind="warning">
          <strong>Telegram, {ago(last_error.at)}:</strong> {last_error.text}
        </Note>
      )}
      {facts.length > 0 && <p className="text-sm text-ink-faint">{facts.join(' ')}</p>}
    </>
  )
}

function TokenPart({ bot: { id } }: { bot: BotRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useRequestDraft({
    schema: BotChanges,
    values: { token: '' },
    requestOf: ({ token }) => ({ token: token.trim() }),
  })
  const save = useMutation({
    mutationFn: (body: { token: string }) => call(updateBot, { params: { id }, body }),
    gcTime: 0,
    onSuccess: async bot => {
      form.reset()
      await refresh(...SHOW_BOTS)
      notify('Token changed', bot.hook_error ?? undefined)
    },
  })
  return (
    <PartForm
      action="Change token"
      onSubmit={submits(form, body => save.mutate(body))}
      save={save}
      reason={reasonAgainst(updateBot, role)}
    >
      <TextField
        label="New token"
        type="password"
        autoComplete="off"
        error={form.formState.errors.token?.message}
        {...form.register('token')}
      />
    </PartForm>
  )
}

function DeletePart({ bot: { id, username, former_host, mode } }: { bot: BotRow }) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const { role } = useActive()
  const webhookWords =
    mode === 'copy' ? '' : former_host === null ? ' Its webhook is removed.' : ` Its webhook returns to ${former_host}.`
  const leading = useCampaigns().filter(({ destination }) => 'bot_id' in destination && destination.bot_id === id)
  const named = leading
    .slice(0, MOST_NAMED)
    .map(({ name }) => `“${name}”`)
    .join(', ')
  const others = leading.length > MOST_NAMED ? ` and ${count(leading.length - MOST_NAMED)} more` : ''
  const sources = leading.length === 0 ? '' : `${named}${others} and of `
  const fallbackWords = ` Visitors of ${sources}click flows that lead to it go to the fallback, if there is one.`
  const remove = () =>
    confirm({
      title: `Delete @${username}?`,
      words: `Its clicks and starts stay. Those clicks no longer name a bot.${webhookWords}${fallbackWords}`,
      action: 'Delete bot',
      deed: async () => {
        const answered = await call(deleteBot, { params: { id } })
        await navigate({ to: '/bots' })
        notifyDone(`@${username} deleted`, answered)
      },
      refresh: [...SHOW_BOTS],
    })
  return (
    <Button look="danger" reason={reasonAgainst(deleteBot, role)} onClick={remove}>
      Delete bot
    </Button>
  )
}

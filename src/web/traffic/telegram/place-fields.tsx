/** The fields of a link into Telegram: app, start parameter, host; and whether starts or launches are recorded. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { LINK_HOSTS, type TelegramPlace, telegramLink } from '../../../contract/telegram.ts'
import { type Bot, listBots } from '../../../telegram/bots/api.ts'
import { ask } from '../../ground/call.ts'
import { useTracker } from '../../ground/tracker.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { Note } from '../../ground/ui/refusal.tsx'

type BotRow = z.input<typeof Bot>
type Changes = Partial<Omit<TelegramPlace, 'type'>>

/** The bots of the workspace, newest first; undefined while they load. */
export function useBotChoices(): readonly BotRow[] | undefined {
  return useQuery(ask(listBots, { query: { limit: 200 } })).data?.data
}

type PlaceProps = {
  place: TelegramPlace
  bot_id: string
  faults?: { [F in 'app' | 'start']?: string | undefined }
  change: (changes: Changes) => void
}

export function TelegramLinkFields({ place, bot_id, faults = {}, change }: PlaceProps) {
  const bot = useBotChoices()?.find(({ id }) => id === bot_id)
  const [short, long] = LINK_HOSTS
  return (
    <>
      {place.type === 'mini_app' && (
        <TextField
          label="Short name of the app"
          optional
          autoComplete="off"
          className="max-w-xs"
          hint="As in t.me/your_bot/play. Blank = the bot’s main Mini App."
          error={faults.app}
          value={place.app ?? ''}
          onChange={({ target }) => change({ app: target.value.trim() || null })}
        />
      )}
      <TextField
        label="Start parameter"
        optional
        autoComplete="off"
        placeholder="{click_id}"
        className="max-w-xs"
        hint="May begin with your own text ending in - or _: promo-{click_id}"
        error={faults.start}
        value={place.start ?? ''}
        onChange={({ target }) => change({ start: target.value.trim() || null })}
      />
      <SelectField
        label="Link host"
        className="max-w-xs"
        hint="Both open the same chat. Some networks refuse one of them."
        value={place.link_host ?? short}
        onChange={({ target }) => change({ link_host: target.value === long ? long : short })}
      >
        {LINK_HOSTS.map(host => (
          <option key={host}>{host}</option>
        ))}
      </SelectField>
      <Checkbox
        label="Open through a page"
        words="For ads inside other apps, whose browsers do not open Telegram: the page tries to open it and shows a button."
        checked={place.open === 'page'}
        onChange={({ target }) => change({ open: target.checked ? 'page' : 'direct' })}
      />
      {bot !== undefined && <Readiness place={place} bot={bot} />}
    </>
  )
}

/** A preview of the link, and whether Sluice records starts or launches. */
function Readiness({ place, bot }: { place: TelegramPlace; bot: BotRow }) {
  const { url } = telegramLink(bot.username, place)
  return (
    <>
      <p className="text-sm text-ink-faint">
        Preview: <span className="font-mono break-all text-ink-soft">{url}</span>
      </p>
      {place.type === 'mini_app' ? <LaunchNote bot={bot} /> : <StartNote bot={bot} />}
    </>
  )
}

function StartNote({ bot: { username, hook_error } }: { bot: BotRow }) {
  if (hook_error === null) return <Note>Ready: starts of @{username} are recorded.</Note>
  return (
    <Note kind="warning">
      <strong>Starts of @{username} are not recorded yet.</strong> {sentence(hook_error)} See{' '}
      <Link to="/bots" className="text-accent underline-offset-2 hover:underline">
        Bots
      </Link>
      . Visitors still reach the bot.
    </Note>
  )
}

function LaunchNote({ bot }: { bot: BotRow }) {
  const tracker = useTracker()
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm text-ink-faint">
        Telegram does not report who opens an app. Add this line to the app’s page, and Sluice records each launch.
        {!tracker.startsWith('https:') && ' Sluice must have a public https address (BASE_URL).'}
      </p>
      <CodeBlock label="In the Mini App" text={`<script src="${tracker}/sluice.js" data-bot="${bot.id}"></script>`} />
    </div>
  )
}

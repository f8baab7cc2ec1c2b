/** The choice who runs the bot: Sluice alone, or the customer's own program, which then gets updates forwarded or sends copies. */
import { useId } from 'react'
import { TextField } from '../../ground/ui/field.tsx'
import { MODE_WORDS, type Mode } from './state.tsx'

export type ModeDraft = { mode: Mode; relay_url: string; relay_secret: string }

type ModeFieldsProps = {
  draft: ModeDraft
  onChange: (draft: ModeDraft) => void
  /** The host that updates are forwarded to, or that had the webhook before. */
  host: string | null
  hasSecret: boolean
}

export function ModeFields({ draft, onChange, host, hasSecret }: ModeFieldsProps) {
  const name = useId()
  const set = (more: Partial<ModeDraft>) => onChange({ ...draft, ...more })
  return (
    <>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 font-medium">Who runs it</legend>
        {(Object.keys(MODE_WORDS) as Mode[]).map(mode => (
          <label key={mode} className="flex items-start gap-2.5">
            <input
              type="radio"
              name={name}
              checked={draft.mode === mode}
              onChange={() => set({ mode })}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span>
              {MODE_WORDS[mode].title}
              <span className="block text-sm text-ink-faint">{MODE_WORDS[mode].words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {draft.mode === 'relay' && (
        <>
          <TextField
            label="Webhook URL of your program"
            optional
            type="url"
            inputMode="url"
            autoComplete="off"
            placeholder="https://"
            hint={host === null ? 'Blank = the URL the webhook has at Telegram now.' : `Blank = unchanged, at ${host}.`}
            value={draft.relay_url}
            onChange={event => set({ relay_url: event.target.value })}
          />
          <TextField
            label="Webhook secret of your program"
            optional
            type="password"
            autoComplete="off"
            hint={
              hasSecret
                ? 'Blank = unchanged.'
                : 'The secret_token your program set its webhook with. Telegram never reveals it, so enter it here.'
            }
            value={draft.relay_secret}
            onChange={event => set({ relay_secret: event.target.value })}
          />
        </>
      )}
    </>
  )
}

/** The fields of a bot to change: an empty URL or secret stays as it is. */
export const modeChanges = ({ mode, relay_url, relay_secret }: ModeDraft) => ({
  mode,
  ...(mode === 'relay' && relay_url.trim() !== '' ? { relay_url: relay_url.trim() } : {}),
  ...(mode === 'relay' && relay_secret !== '' ? { relay_secret } : {}),
})

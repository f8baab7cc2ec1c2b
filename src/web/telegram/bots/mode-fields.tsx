/** The choice who runs the bot: Sluice alone, or the customer's own program, which then gets updates forwarded or sends copies. */
import type { FieldErrors, UseFormRegisterReturn } from 'react-hook-form'
import { TextField } from '../../ground/ui/field.tsx'
import { MODE_WORDS, type Mode } from './state.tsx'

export type ModeDraft = { mode: Mode; relay_url: string; relay_secret: string }

type ModeFieldsProps = {
  form: {
    register: (name: keyof ModeDraft) => UseFormRegisterReturn
    formState: { errors: FieldErrors<ModeDraft> }
  }
  /** The mode that is chosen in the form. */
  mode: Mode
  /** The host that updates are forwarded to, or that had the webhook before. */
  host: string | null
  hasSecret: boolean
}

export function ModeFields({ form, mode, host, hasSecret }: ModeFieldsProps) {
  const { errors } = form.formState
  return (
    <>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 font-medium">Who runs it</legend>
        {(Object.keys(MODE_WORDS) as Mode[]).map(one => (
          <label key={one} className="flex items-start gap-2.5">
            <input
              type="radio"
              value={one}
              className="mt-0.5 size-4 shrink-0 accent-accent"
              {...form.register('mode')}
            />
            <span>
              {MODE_WORDS[one].title}
              <span className="block text-sm text-ink-faint">{MODE_WORDS[one].words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {mode === 'relay' && (
        <>
          <TextField
            label="Webhook URL of your program"
            optional
            type="url"
            inputMode="url"
            autoComplete="off"
            placeholder="https://"
            hint={host === null ? 'Blank = the URL the webhook has at Telegram now.' : `Blank = unchanged, at ${host}.`}
            error={errors.relay_url?.message}
            {...form.register('relay_url')}
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
            error={errors.relay_secret?.message}
            {...form.register('relay_secret')}
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

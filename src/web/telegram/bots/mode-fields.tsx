/** Who runs the bot: Sluice alone, or a program of the owner's, and how that goes on hearing. */
import { useId } from 'react'
import { TextField } from '../../ground/ui/field.tsx'
import { MODE_WORDS, type Mode } from './state.tsx'

export type Way = { mode: Mode; relay_url: string; relay_secret: string }

type ModeFieldsProps = {
  way: Way
  onChange: (way: Way) => void
  /** What is passed on to now, or what had the hook. */
  host: string | null
  hasSecret: boolean
}

export function ModeFields({ way, onChange, host, hasSecret }: ModeFieldsProps) {
  const name = useId()
  const set = (more: Partial<Way>) => onChange({ ...way, ...more })
  return (
    <>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 font-medium">Who runs it</legend>
        {(Object.keys(MODE_WORDS) as Mode[]).map(mode => (
          <label key={mode} className="flex items-start gap-2.5">
            <input
              type="radio"
              name={name}
              checked={way.mode === mode}
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
      {way.mode === 'relay' && (
        <>
          <TextField
            label="Address of your program"
            optional
            type="url"
            inputMode="url"
            autoComplete="off"
            placeholder="https://"
            hint={
              host === null
                ? 'Left empty: the address its hook has now at Telegram.'
                : `Left empty: as it is, at ${host}.`
            }
            value={way.relay_url}
            onChange={event => set({ relay_url: event.target.value })}
          />
          <TextField
            label="Secret of your program"
            optional
            type="password"
            autoComplete="off"
            hint={
              hasSecret
                ? 'Left empty: as it is.'
                : 'The secret_token your program set its hook with. Telegram tells it to nobody, so it has to be typed.'
            }
            value={way.relay_secret}
            onChange={event => set({ relay_secret: event.target.value })}
          />
        </>
      )}
    </>
  )
}

/** What of it is sent: an empty field leaves things as they are. */
export const wayToSend = ({ mode, relay_url, relay_secret }: Way) => ({
  mode,
  ...(mode === 'relay' && relay_url.trim() !== '' ? { relay_url: relay_url.trim() } : {}),
  ...(mode === 'relay' && relay_secret !== '' ? { relay_secret } : {}),
})

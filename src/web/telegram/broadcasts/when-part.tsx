/** The schedule and speed of a broadcast, and what happens if an answer is lost. */
import { localIn, momentIn } from '../../../contract/zones.ts'
import { MOST_FREE, MOST_PAID } from '../../../telegram/broadcasts/api.ts'
import { moment } from '../../ground/figures/figures.ts'
import { HoursFields } from '../../ground/hours-fields.tsx'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { zoneNow, zoneWords } from '../../ground/zone.ts'
import type { Draft } from './draft.ts'
import { withCondition } from './draft.ts'

type WhenProps = { draft: Draft; onChange: (changes: Partial<Draft>) => void }

export function WhenPart({ draft, onChange }: WhenProps) {
  const { starts_at, window, audience, per_second, paid, on_unknown } = draft
  return (
    <div className="flex flex-col gap-4">
      <TextField
        type="datetime-local"
        className="max-w-72"
        label={`Start automatically at (${zoneWords()})`}
        optional
        hint={starts_at === null ? 'Blank = as soon as you start it.' : `That is ${moment(starts_at)}.`}
        value={starts_at === null ? '' : localIn(zoneNow(), Date.parse(starts_at))}
        onChange={event => onChange({ starts_at: momentIn(zoneNow(), event.target.value) ?? null })}
      />
      <HoursFields
        label="Only in these hours"
        words="Outside these hours it waits, and continues the next day."
        usual={{ from: '09:00', to: '21:00' }}
        hours={window}
        onChange={hours => onChange({ window: hours })}
      />
      <HoursFields
        label="Never in these hours"
        words="Quiet hours, such as at night."
        usual={{ from: '22:00', to: '08:00' }}
        hours={audience.quiet_hours ?? null}
        onChange={hours => onChange({ audience: withCondition(audience, 'quiet_hours', hours ?? undefined) })}
      />
      <TextField
        type="number"
        min={1}
        max={paid ? MOST_PAID : MOST_FREE}
        className="max-w-72"
        label="Messages per second"
        optional
        hint={
          paid
            ? `Up to ${MOST_PAID}. Blank = as fast as Telegram allows.`
            : `Up to ${MOST_FREE}. Blank = the bot’s own limit, which leaves room for your program.`
        }
        value={per_second ?? ''}
        onChange={event => onChange({ per_second: event.target.value === '' ? null : Number(event.target.value) })}
      />
      <Checkbox
        label="Paid broadcast, up to 1,000 per second"
        words="Telegram charges the bot 0.1 Star per message beyond the free limit. The bot needs 10,000 Stars, and paid broadcasts enabled in BotFather."
        checked={paid}
        onChange={event =>
          onChange({
            paid: event.target.checked,
            ...(!event.target.checked && (per_second ?? 0) > MOST_FREE ? { per_second: MOST_FREE } : {}),
          })
        }
      />
      <SelectField
        label="If Telegram’s answer is lost"
        className="max-w-xl"
        hint="There is no way to check whether such a message arrived. It affects a few messages when a connection or process breaks."
        value={on_unknown}
        onChange={event => onChange({ on_unknown: event.target.value as Draft['on_unknown'] })}
      >
        <option value="skip">Mark as unknown, never send twice</option>
        <option value="resend">Send again, possibly twice</option>
      </SelectField>
    </div>
  )
}

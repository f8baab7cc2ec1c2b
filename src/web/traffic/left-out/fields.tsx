/** What forms that leave values out have in common: where visitors go, until when, and why. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { DAY_MS } from '../../../contract/days.ts'
import { LEFT_OUT_FIELDS, type leaveOut } from '../../../traffic/left-out/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import type { DraftFields } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'

export type LeftOutField = (typeof LEFT_OUT_FIELDS)[number]
type Request = z.input<typeof leaveOut.body>

const WORDS: Partial<Record<LeftOutField, string>> = {
  geo: 'Country',
  device: 'Device',
  os: 'OS',
  browser: 'Browser',
  hour: 'Hour',
  creative: 'Creative',
}

export const fieldWords = (field: LeftOutField): string => WORDS[field] ?? field

const HINTS: Partial<Record<LeftOutField, string>> = {
  geo: 'Two capital letters, such as DE.',
  device: 'desktop, mobile, tablet or other.',
  hour: '00 to 23, in the time zone of the workspace.',
  creative: 'The sub that the traffic source labels as its creative.',
}

/** How the values of a field are written. */
export const hintOf = (field: LeftOutField): string =>
  `One a line, exactly as in the report. ${HINTS[field] ?? ''}`.trim()

export const FieldOptions = () =>
  LEFT_OUT_FIELDS.map(field => (
    <option key={field} value={field}>
      {fieldWords(field)}
    </option>
  ))

/** The form's side of the details: an offer's id or blank, a number of days or blank. */
export type DetailValues = { offer: string; note: string; days: string }

export const NO_DETAILS: DetailValues = { offer: '', note: '', days: '' }

export const leadsToOf = ({ offer }: Pick<DetailValues, 'offer'>): Request['leads_to'] =>
  offer === '' ? { type: 'fallback' } : { type: 'offer', offer_id: offer }

export const detailsOf = ({ offer, note, days }: DetailValues): Pick<Request, 'leads_to' | 'note' | 'until'> => ({
  leads_to: leadsToOf({ offer }),
  note: note.trim() === '' ? null : note,
  until: days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
})

const PERIODS = { '1': 'After a day', '3': 'After 3 days', '7': 'After 7 days', '30': 'After 30 days' }

export function LeadsToField(props: Partial<React.ComponentProps<'select'>>) {
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } })).data?.data ?? []
  return (
    <SelectField label="Their visitors go to" {...props}>
      <option value="">The fallback of the campaign</option>
      {offers
        .filter(({ status }) => status === 'active')
        .map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
    </SelectField>
  )
}

export function DetailFields({ form }: { form: DraftFields<DetailValues> }) {
  return (
    <>
      <LeadsToField {...form.register('offer')} />
      <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] gap-4">
        <SelectField label="Let in again" {...form.register('days')}>
          <option value="">Never</option>
          {Object.entries(PERIODS).map(([days, words]) => (
            <option key={days} value={days}>
              {words}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Note"
          optional
          autoComplete="off"
          error={form.formState.errors.note?.message}
          {...form.register('note')}
        />
      </div>
    </>
  )
}

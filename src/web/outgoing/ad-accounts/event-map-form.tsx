/** The event map: the platform's name for each event type, and for Meta its value. */
import type { UseMutationResult } from '@tanstack/react-query'
import { useId } from 'react'
import { STANDARD_EVENTS } from '../../../contract/ad-platforms.ts'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { AdAccountChanges } from '../../../outgoing/ad-accounts/api.ts'
import { inWords } from '../../ground/rungs.ts'
import { type DraftFields, submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import type { AdAccountPatch, AdAccountRow } from './form-values.ts'
import { PLATFORM_FORMS } from './platforms.ts'

type EventLine = { name: string; value: string; currency: string; content_name: string }
type EventLines = Record<EventType, EventLine>

const BLANK: EventLine = { name: '', value: '', currency: '', content_name: '' }

function linesOf({ event_map }: AdAccountRow): EventLines {
  const lines = EVENT_TYPES.map((type): [EventType, EventLine] => {
    const mapped = event_map[type]
    const { value = '', currency = '', content_name = '' } = mapped?.custom_data ?? {}
    return [type, { ...BLANK, name: mapped?.name ?? '', value, currency, content_name }]
  })
  return Object.fromEntries(lines) as EventLines
}

/** The event map made from the lines. Custom data without a field in this form is kept. */
function mapOf({ platform, event_map }: AdAccountRow, lines: EventLines): object {
  const filled = EVENT_TYPES.filter(type => lines[type].name.trim() !== '')
  const mapped = filled.map(type => {
    const { name, ...typed } = lines[type]
    if (!PLATFORM_FORMS[platform].hasCustomData) return [type, { name }]
    const { value: _, currency: __, content_name: ___, ...kept } = event_map[type]?.custom_data ?? {}
    const block = Object.entries(typed).filter(([, text]) => text.trim() !== '')
    const custom_data = { ...kept, ...Object.fromEntries(block) }
    return [type, Object.keys(custom_data).length === 0 ? { name } : { name, custom_data }]
  })
  return Object.fromEntries(mapped) as object
}

/** The form field of an error in the event map. An error about the custom data as a whole is shown at the value. */
function fieldOf(path: readonly PropertyKey[]): string {
  const [type, field] = [String(path[1]), String(path.at(-1))]
  const at = field in BLANK ? field : field === 'custom_data' ? 'value' : 'name'
  return `${type}.${at}`
}

type FormProps = {
  account: AdAccountRow
  reason: string | undefined
  save: UseMutationResult<AdAccountRow, Error, AdAccountPatch>
}

export function EventMapForm({ account, reason, save }: FormProps) {
  const { platform } = account
  const { eventLabel, hasCustomData } = PLATFORM_FORMS[platform]
  const form = useRequestDraft({
    schema: AdAccountChanges,
    values: linesOf(account),
    fieldOf,
    requestOf: lines => ({ platform, event_map: mapOf(account, lines) }) as AdAccountPatch,
  })
  useUnsaved(form.formState.isDirty, 'the events')
  const names = useId()
  const submit = submits(form, body => save.mutate(body, { onSuccess: saved => form.reset(linesOf(saved)) }))
  return (
    <PartForm action="Save events" onSubmit={submit} save={save} reason={reason}>
      <datalist id={names}>
        {STANDARD_EVENTS[platform].map(name => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
      <Table caption="Event map">
        <thead>
          <tr>
            <Head stay>Conversion</Head>
            <Head>{eventLabel}</Head>
            {hasCustomData && (
              <>
                <Head>Value</Head>
                <Head>Currency</Head>
                <Head>Content name</Head>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {EVENT_TYPES.map(type => (
            <MapLine key={type} type={type} form={form} hasCustomData={hasCustomData} names={names} />
          ))}
        </tbody>
      </Table>
      {hasCustomData && (
        <p className="text-sm text-ink-faint">
          Meta accepts a Purchase only with a value and a currency.
          {'use_payout_as_value' in account.settings && account.settings.use_payout_as_value
            ? ' The payout overrides the value here.'
            : ' The payout is not sent to Meta.'}
        </p>
      )}
    </PartForm>
  )
}

type LineProps = {
  type: EventType
  form: DraftFields<EventLines>
  hasCustomData: boolean
  /** The id of the list of suggested names. */
  names: string
}

function MapLine({ type, form, hasCustomData, names }: LineProps) {
  const label = inWords(type)
  const errors = form.formState.errors[type]
  const field = (name: keyof EventLine, words: string, className: string, mode: 'text' | 'decimal' = 'text') => (
    <Cell>
      <TextField
        hideLabel
        label={`${words} of ${label}`}
        autoComplete="off"
        inputMode={mode}
        className={className}
        error={errors?.[name]?.message}
        {...(name === 'name' ? { list: names, placeholder: 'Not sent' } : {})}
        {...form.register(`${type}.${name}`)}
      />
    </Cell>
  )
  return (
    <Row>
      <RowHead stay>{label}</RowHead>
      {field('name', 'Platform’s event', 'min-w-40')}
      {hasCustomData && field('value', 'Value', 'min-w-20', 'decimal')}
      {hasCustomData && field('currency', 'Currency', 'min-w-16')}
      {hasCustomData && field('content_name', 'Content name', 'min-w-28')}
    </Row>
  )
}

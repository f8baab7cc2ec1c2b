/** The event map: the platform's name for each event type, and for Meta its value. */
import type { UseMutationResult } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { z } from 'zod'
import { STANDARD_EVENTS } from '../../../contract/ad-platforms.ts'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { AdAccountChanges } from '../../../outgoing/ad-accounts/api.ts'
import { inWords } from '../../ground/rungs.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import type { AdAccountPatch, AdAccountRow } from './form-values.ts'
import { PLATFORM_FORMS } from './platforms.ts'

type EventLine = { name: string; value: string; currency: string; content_name: string }
type EventLines = Record<EventType, EventLine>
/** Errors by event type and field. */
type EventFaults = Partial<Record<string, Partial<EventLine>>>

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

/** An error about the custom data as a whole is shown at the value. */
function faultsOf(issues: readonly z.core.$ZodIssue[]): EventFaults {
  const faults: EventFaults = {}
  for (const { path, message } of issues) {
    const [type, field] = [String(path[1]), String(path.at(-1))]
    const at = field in BLANK ? field : field === 'custom_data' ? 'value' : 'name'
    faults[type] = { [at]: message, ...faults[type] }
  }
  return faults
}

type FormProps = {
  account: AdAccountRow
  reason: string | undefined
  save: UseMutationResult<AdAccountRow, Error, AdAccountPatch>
}

export function EventMapForm({ account, reason, save }: FormProps) {
  const { platform } = account
  const { eventLabel, hasCustomData } = PLATFORM_FORMS[platform]
  const [lines, setLines] = useState(linesOf(account))
  const [faults, setFaults] = useState<EventFaults>({})
  useUnsaved(isChanged(lines, linesOf(account)), 'the events')
  const names = useId()
  const submit = () => {
    const body = { platform, event_map: mapOf(account, lines) }
    const checked = AdAccountChanges.safeParse(body)
    const issues = checked.success ? [] : checked.error.issues
    setFaults(faultsOf(issues))
    if (checked.success) save.mutate(body as AdAccountPatch, { onSuccess: saved => setLines(linesOf(saved)) })
  }
  const change = (type: EventType, changed: Partial<EventLine>) =>
    setLines({ ...lines, [type]: { ...lines[type], ...changed } })
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
            <MapLine
              key={type}
              type={type}
              line={lines[type]}
              hasCustomData={hasCustomData}
              names={names}
              faults={faults[type] ?? {}}
              onChange={changed => change(type, changed)}
            />
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
  line: EventLine
  hasCustomData: boolean
  names: string
  faults: Partial<EventLine>
  onChange: (changed: Partial<EventLine>) => void
}

function MapLine({ type, line, hasCustomData, names, faults, onChange }: LineProps) {
  const label = inWords(type)
  const field = (name: keyof EventLine, words: string, className: string, mode: 'text' | 'decimal' = 'text') => (
    <Cell>
      <TextField
        hideLabel
        label={`${words} of ${label}`}
        autoComplete="off"
        inputMode={mode}
        className={className}
        error={faults[name]}
        {...(name === 'name' ? { list: names, placeholder: 'Not sent' } : {})}
        value={line[name]}
        onChange={event => onChange({ [name]: event.target.value })}
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

/** How a network's postbacks are read: its parameter names, and what its statuses mean. */
import { useState } from 'react'
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { VERDICTS } from '../../../contract/revisions.ts'
import {
  BY_OFFER,
  FIELDS,
  type Field,
  HELD,
  type NetworkChanges,
  type ParameterMap,
  type StatusMeaning,
} from '../../../intake/networks/api.ts'
import { inWords } from '../../ground/rungs.ts'
import { Checkbox, SelectField, TextArea, TextField } from '../../ground/ui/field.tsx'

type Changes = z.input<typeof NetworkChanges>
type Names = z.input<typeof ParameterMap>
type Type = (typeof EVENT_TYPES)[number]

const LABELS: Record<Field, string> = {
  click_id: 'Click id',
  payout: 'Payout',
  transaction_id: 'Transaction id',
  status: 'Status, goal or event',
  currency: 'Currency',
  telegram_user_id: 'Telegram user id',
}
const HINTS: Partial<Record<Field, string>> = {
  transaction_id: 'Distinguishes several conversions of one type on one click. A repeated id does nothing.',
  currency: 'A currency in the postback overrides the network’s currency below.',
}

export function ParameterFields({ map, onChange }: { map: Names; onChange: (map: Names) => void }) {
  const [texts, setTexts] = useState(() => Object.fromEntries(FIELDS.map(field => [field, map[field].join(', ')])))
  return (
    <div className="flex flex-col gap-4">
      {FIELDS.map(field => (
        <TextField
          key={field}
          label={LABELS[field]}
          hint={HINTS[field]}
          className="[&_input]:font-mono"
          spellCheck={false}
          autoComplete="off"
          value={texts[field] ?? ''}
          onChange={event => {
            const text = event.target.value
            setTexts({ ...texts, [field]: text })
            onChange({ ...map, [field]: text.split(/[\s,]+/).filter(name => name !== '') })
          }}
        />
      ))}
    </div>
  )
}

type StatusFieldsProps = {
  statuses: Readonly<Record<string, StatusMeaning | null>>
  defaultType: Type | null
  unpaidTypes: readonly Type[]
  onChange: (changes: Changes) => void
}

// A field grows with its text; a row holds about 64 letters.
const MOST_ROWS = 6
const ROW_LETTERS = 64

/** One line for each meaning in use, with the network's statuses for it. */
export function StatusFields({ statuses, defaultType, unpaidTypes, onChange }: StatusFieldsProps) {
  const [lines, setLines] = useState(() => inLines(statuses))
  const change = (next: Line[]) => {
    setLines(next)
    // A status in two lines belongs to the first one; the later field shows an error.
    const pairs = next.flatMap(({ type, text }) => statusesOf(text).map(word => [word, type] as const))
    onChange({ statuses: Object.fromEntries(pairs.toReversed()) })
  }
  const used = EVENT_TYPES.filter(
    type => lines.some(line => line.type === type) || type === defaultType || unpaidTypes.includes(type),
  )
  return (
    <div className="flex flex-col gap-4">
      {lines.map((line, at) => (
        <TextArea
          key={line.type}
          rows={Math.min(MOST_ROWS, 1 + Math.floor(line.text.length / ROW_LETTERS))}
          label={labelOf(line.type)}
          hint={hintOf(line.type)}
          error={clashOf(lines, at)}
          className="[&_textarea]:font-mono"
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="none"
          value={line.text}
          onChange={event => change(lines.with(at, { ...line, text: event.target.value }))}
        />
      ))}
      <SelectField
        label="Add a status mapping"
        className="w-80 max-w-full"
        value=""
        onChange={event => {
          const type = MEANINGS.find(one => one === event.target.value)
          if (type !== undefined) setLines([...lines.slice(0, -1), { type, text: '' }, ...lines.slice(-1)])
        }}
      >
        <option value="">Choose what a status means</option>
        {MEANINGS.filter(type => lines.every(line => line.type !== type)).map(type => (
          <option key={type} value={type}>
            {labelOf(type)}
          </option>
        ))}
      </SelectField>
      <TypeField
        label="If status is missing, record as"
        hint="If the click’s offer pays on other types, one of those is recorded instead."
        nothing="Nothing (refuse the postback)"
        type={defaultType}
        onChange={default_type => onChange({ default_type })}
      />
      <fieldset>
        <legend className="mb-1 font-medium">Not paid yet</legend>
        <p className="mb-2 text-sm text-ink-faint">
          Types the network reports before it pays for them. They are recorded with a payout of 0, so that revenue is
          booked only once.
        </p>
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
          {used.map(type => (
            <Checkbox
              key={type}
              label={inWords(type)}
              checked={unpaidTypes.includes(type)}
              onChange={event =>
                onChange({
                  unpaid_types: event.target.checked ? [...unpaidTypes, type] : unpaidTypes.filter(one => one !== type),
                })
              }
            />
          ))}
        </div>
      </fieldset>
    </div>
  )
}

type Line = { type: StatusMeaning | null; text: string }

const VERDICT_LABELS: Record<string, string> = {
  '!approve': 'Approved',
  '!pend': 'On hold',
  '!reject': 'Rejected',
  '!refund': 'Refunded',
  '!chargeback': 'Chargeback',
}

/** Everything a status may mean: the type the offer pays on, a type, either of them on hold, a verdict. */
const MEANINGS: readonly StatusMeaning[] = [
  BY_OFFER,
  ...EVENT_TYPES,
  `${HELD}${BY_OFFER}`,
  ...EVENT_TYPES.map(type => `${HELD}${type}` as const),
  ...(Object.keys(VERDICTS) as (keyof typeof VERDICTS)[]),
]

function labelOf(meaning: StatusMeaning | null): string {
  if (meaning === null) return 'Ignored'
  if (meaning === BY_OFFER) return 'The type the offer pays on'
  if (meaning.startsWith(HELD)) return `${labelOf(meaning.slice(HELD.length) as StatusMeaning)}, on hold`
  return VERDICT_LABELS[meaning] ?? inWords(meaning)
}

function hintOf(meaning: StatusMeaning | null): string | undefined {
  if (meaning === null)
    return 'Nothing is recorded. The postback is kept under Refused, and the network gets OK so that it does not retry.'
  if (meaning === BY_OFFER)
    return 'For statuses that name no event, such as approved. Recorded as a purchase if the offer names no type.'
  if (meaning.startsWith(HELD))
    return 'Recorded without revenue until a paid status with the same transaction id arrives.'
  return meaning === '!reject'
    ? 'Changes the conversion with the same transaction id, if this network recorded it.'
    : undefined
}

/** The statuses in a line, in lower case as postbacks are read. */
const statusesOf = (text: string) =>
  text
    .split(',')
    .map(word => word.trim().toLowerCase())
    .filter(word => word !== '')

/** One line for each meaning in use, with the ignored statuses last. */
function inLines(statuses: StatusFieldsProps['statuses']): Line[] {
  const textOf = (type: StatusMeaning | null) =>
    Object.keys(statuses)
      .filter(word => statuses[word] === type)
      .toSorted()
      .join(', ')
  const types = MEANINGS.filter(type => Object.values(statuses).includes(type))
  return [...types, null].map(type => ({ type, text: textOf(type) }))
}

/** The error of a line that repeats a status of an earlier line. */
function clashOf(lines: readonly Line[], at: number): string | undefined {
  const mine = statusesOf(lines[at]?.text ?? '')
  for (const { type, text } of lines.slice(0, at)) {
    const word = statusesOf(text).find(one => mine.includes(one))
    if (word !== undefined) return `${word} already means ${labelOf(type)}.`
  }
  return undefined
}

type TypeFieldProps = {
  label: string
  hint: string
  nothing: string
  type: Type | null
  onChange: (type: Type | null) => void
}

function TypeField({ label, hint, nothing, type, onChange }: TypeFieldProps) {
  return (
    <SelectField
      label={label}
      hint={hint}
      className="w-80 max-w-full"
      value={type ?? ''}
      onChange={event => onChange(EVENT_TYPES.find(one => one === event.target.value) ?? null)}
    >
      <option value="">{nothing}</option>
      {EVENT_TYPES.map(one => (
        <option key={one} value={one}>
          {inWords(one)}
        </option>
      ))}
    </SelectField>
  )
}

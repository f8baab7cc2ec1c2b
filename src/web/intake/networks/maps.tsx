/** How a network's calls are read: its parameter names, and what its words stand for. */
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
  transaction_id: 'Tells two conversions of one type on one click apart; sent again, it does nothing.',
  currency: 'What a call says of itself goes before the network’s currency below.',
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

// A field grows with its words; a row of it takes about so many letters.
const MOST_ROWS = 6
const ROW_LETTERS = 64

/** One line for each event type, with the network's words for it: as short as the map allows. */
export function StatusFields({ statuses, defaultType, unpaidTypes, onChange }: StatusFieldsProps) {
  const [lines, setLines] = useState(() => inLines(statuses))
  const change = (next: Line[]) => {
    setLines(next)
    // The first line that holds a word has it; the field of a later one says so.
    const pairs = next.flatMap(({ type, text }) => wordsOf(text).map(word => [word, type] as const))
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
        label="Add a meaning"
        className="w-80 max-w-full"
        value=""
        onChange={event => {
          const type = MEANINGS.find(one => one === event.target.value)
          if (type !== undefined) setLines([...lines.slice(0, -1), { type, text: '' }, ...lines.slice(-1)])
        }}
      >
        <option value="">Choose one to give it words</option>
        {MEANINGS.filter(type => lines.every(line => line.type !== type)).map(type => (
          <option key={type} value={type}>
            {labelOf(type)}
          </option>
        ))}
      </SelectField>
      <TypeField
        label="A call without a status stands for"
        hint="Where the click’s offer pays for other types, it is one of those."
        nothing="Nothing: it is refused and kept"
        type={defaultType}
        onChange={default_type => onChange({ default_type })}
      />
      <fieldset>
        <legend className="mb-1 font-medium">Not paid yet</legend>
        <p className="mb-2 text-sm text-ink-faint">
          Reported before the network pays for them: recorded with a payout of 0, whatever the offer pays, so that the
          money is booked once, when it is earned.
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
  '!approve': 'Approve the recorded one',
  '!pend': 'Put the recorded one on hold',
  '!reject': 'Reject the recorded one',
  '!refund': 'Refund the recorded one',
  '!chargeback': 'Charge the recorded one back',
}

/** All that a word may stand for: what the offer pays for, a type, the same on hold, a verdict. */
const MEANINGS: readonly StatusMeaning[] = [
  BY_OFFER,
  ...EVENT_TYPES,
  `${HELD}${BY_OFFER}`,
  ...EVENT_TYPES.map(type => `${HELD}${type}` as const),
  ...(Object.keys(VERDICTS) as (keyof typeof VERDICTS)[]),
]

function labelOf(meaning: StatusMeaning | null): string {
  if (meaning === null) return 'Ignored'
  if (meaning === BY_OFFER) return 'What the offer pays for'
  if (meaning.startsWith(HELD)) return `${labelOf(meaning.slice(HELD.length) as StatusMeaning)}, on hold`
  return VERDICT_LABELS[meaning] ?? inWords(meaning)
}

function hintOf(meaning: StatusMeaning | null): string | undefined {
  if (meaning === null)
    return 'Nothing is recorded: the call is kept under Refused. The network is told OK, so that it does not send it again.'
  if (meaning === BY_OFFER)
    return 'For words that name no event, such as approved. A purchase where the click’s offer names no type.'
  if (meaning.startsWith(HELD)) return 'Recorded, and worth nothing until a paid word of the same transaction comes.'
  return meaning === '!reject'
    ? 'Said of the conversion with the same transaction id, as far as this network recorded it.'
    : undefined
}

/** Words are compared in lower case, as calls are read. */
const wordsOf = (text: string) =>
  text
    .split(',')
    .map(word => word.trim().toLowerCase())
    .filter(word => word !== '')

/** The types that have words, in the order of the ladder, and nothing last. */
function inLines(statuses: StatusFieldsProps['statuses']): Line[] {
  const textOf = (type: StatusMeaning | null) =>
    Object.keys(statuses)
      .filter(word => statuses[word] === type)
      .toSorted()
      .join(', ')
  const types = MEANINGS.filter(type => Object.values(statuses).includes(type))
  return [...types, null].map(type => ({ type, text: textOf(type) }))
}

/** What is wrong with a line: a word that another one before it has already. */
function clashOf(lines: readonly Line[], at: number): string | undefined {
  const mine = wordsOf(lines[at]?.text ?? '')
  for (const { type, text } of lines.slice(0, at)) {
    const word = wordsOf(text).find(one => mine.includes(one))
    if (word !== undefined) return `${word} stands for ${labelOf(type)} already and keeps doing so.`
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

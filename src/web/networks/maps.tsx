/** How a network's calls are read: its parameter names, and what its words stand for. */
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { FIELDS, type Field, type NetworkChanges, type ParameterMap } from '../../networks/api.ts'
import { inWords } from '../feed/rungs.ts'
import { EVENT_TYPES } from '../lists.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Checkbox, SelectField, TextField } from '../ui/field.tsx'

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
  currency: 'Anything but USD is refused and kept.',
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
  statuses: Readonly<Record<string, Type | null>>
  defaultType: Type | null
  unpaidTypes: readonly Type[]
  onChange: (changes: Changes) => void
}

export function StatusFields({ statuses, defaultType, unpaidTypes, onChange }: StatusFieldsProps) {
  const [rows, setRows] = useState(() => inOrder(statuses).map(([word, type], key) => ({ key, word, type })))
  const change = (next: typeof rows) => {
    setRows(next)
    onChange({
      statuses: Object.fromEntries(next.flatMap(({ word, type }) => (word.trim() === '' ? [] : [[word.trim(), type]]))),
    })
  }
  const used = EVENT_TYPES.filter(
    type => rows.some(row => row.type === type) || type === defaultType || unpaidTypes.includes(type),
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="relative max-h-96 overflow-y-auto rounded-md border border-line p-3">
        <ul className="flex flex-col gap-2">
          {rows.map((row, at) => (
            <li key={row.key} className="flex items-center gap-2">
              <TextField
                label={`Word ${at + 1}`}
                hideLabel
                className="min-w-0 flex-1 [&_input]:font-mono"
                value={row.word}
                onChange={event => change(rows.with(at, { ...row, word: event.target.value }))}
              />
              <TypeField
                label={`What ${row.word === '' ? 'it' : row.word} stands for`}
                nothing="Nothing"
                type={row.type}
                onChange={type => change(rows.with(at, { ...row, type }))}
              />
              <IconButton
                icon={Trash2}
                size="sm"
                label={`Remove ${row.word}`}
                onClick={() => change(rows.toSpliced(at, 1))}
              />
            </li>
          ))}
        </ul>
      </div>
      <div>
        <Button
          size="sm"
          icon={Plus}
          onClick={() =>
            change([...rows, { key: Math.max(0, ...rows.map(({ key }) => key)) + 1, word: '', type: 'lead' }])
          }
        >
          Add a word
        </Button>
      </div>
      <TypeField
        label="A call without a status stands for"
        showLabel
        nothing="Nothing: it is refused and kept"
        type={defaultType}
        onChange={default_type => onChange({ default_type })}
      />
      <fieldset>
        <legend className="mb-1 font-medium">Not paid yet</legend>
        <p className="mb-2 text-sm text-ink-faint">
          Reported before the network pays for them: recorded with a payout of 0, so that the money is booked once, when
          it is earned.
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

/** What stands for the same together, nothing last. */
function inOrder(statuses: StatusFieldsProps['statuses']): [word: string, type: Type | null][] {
  const place = (type: Type | null) => (type === null ? EVENT_TYPES.length : EVENT_TYPES.indexOf(type))
  return Object.entries(statuses).toSorted(
    ([one, type], [two, other]) => place(type) - place(other) || one.localeCompare(two),
  )
}

type TypeFieldProps = {
  label: string
  showLabel?: boolean
  nothing: string
  type: Type | null
  onChange: (type: Type | null) => void
}

function TypeField({ label, showLabel = false, nothing, type, onChange }: TypeFieldProps) {
  return (
    <SelectField
      label={label}
      hideLabel={!showLabel}
      className={showLabel ? 'w-80 max-w-full' : 'w-48 max-sm:w-32'}
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

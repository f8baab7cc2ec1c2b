/** What a condition asks. */
import { useState } from 'react'
import { MOST_HOURS } from '../../../contract/flow-graph.ts'
import { CONDITION_FIELDS, DAYS, DEVICES, MATCHES } from '../../../traffic/click-flows/api.ts'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { CountryField } from './country-field.tsx'
import type { WireNode } from './graph.ts'
import { FIELD_WORDS } from './names.ts'

type Props = { node: WireNode; change: (changes: Partial<WireNode>) => void }

const NOTHING = {
  match: null,
  values: null,
  days: null,
  from_time: null,
  to_time: null,
  time_zone: null,
  within_hours: null,
}

export function ConditionFields({ node, change }: Props) {
  return (
    <>
      <SelectField
        label="Asks about"
        value={node.field ?? ''}
        onChange={event =>
          change({ ...NOTHING, field: CONDITION_FIELDS.find(field => field === event.target.value) ?? null })
        }
      >
        <option value="">Choose …</option>
        {CONDITION_FIELDS.map(field => (
          <option key={field} value={field}>
            {FIELD_WORDS[field] ?? field}
          </option>
        ))}
      </SelectField>
      <Asked node={node} change={change} />
    </>
  )
}

function Asked({ node, change }: Props) {
  const { field } = node
  if (field == null || field === 'bot') return null
  if (field === 'uniqueness') return <VisitsField node={node} change={change} />
  if (field === 'time') return <TimeFields node={node} change={change} />
  if (field === 'geo')
    return <CountryField key={node.id} values={node.values ?? []} onChange={values => change({ values })} />
  if (field === 'device') return <DeviceFields node={node} change={change} />
  const isFree = field !== 'language'
  return (
    <>
      {isFree && (
        <SelectField
          label="Compared"
          value={node.match ?? 'is'}
          onChange={event => change({ match: MATCHES.find(match => match === event.target.value) ?? null })}
        >
          <option value="is">is one of</option>
          <option value="contains">contains one of</option>
          <option value="starts_with">starts with one of</option>
          <option value="is_set">has any value</option>
        </SelectField>
      )}
      {node.match !== 'is_set' && <ValuesField key={`${node.id} ${field}`} node={node} change={change} />}
    </>
  )
}

function VisitsField({ node, change }: Props) {
  const hours = node.within_hours ?? null
  return (
    <TextField
      label="Not here in the last, hours"
      optional
      type="number"
      min={1}
      max={MOST_HOURS}
      hint={
        hours === null
          ? 'Yes for who comes for the first time, to whatever campaign. With hours: for who has not come to this campaign in them, 720 at most.'
          : 'Yes for who has not come to this campaign in these hours, as a cookie says; who keeps none is new.'
      }
      value={hours ?? ''}
      onChange={event => change({ within_hours: hoursOf(event.target.value) })}
    />
  )
}

function hoursOf(typed: string): number | null {
  const hours = Math.round(Number(typed))
  return typed === '' || !Number.isFinite(hours) ? null : Math.min(Math.max(hours, 1), MOST_HOURS)
}

const EXAMPLES: Record<string, string> = {
  language: 'en takes every English, pt-BR the Brazilian alone',
  os: 'Android, iOS, Windows, macOS, Linux',
  browser: 'Chrome, Mobile Chrome, Safari, Mobile Safari, Firefox',
}

const split = (text: string): string[] => [...new Set(text.split(/[,\n]/).map(value => value.trim()))].filter(Boolean)

function ValuesField({ node, change }: Props) {
  // What is typed is kept as typed: a comma at the end is not a value yet.
  const [text, setText] = useState((node.values ?? []).join(', '))
  return (
    <TextField
      label="Values, separated by commas"
      hint={EXAMPLES[node.field ?? ''] ?? 'Any of these leads to yes; case never matters'}
      autoComplete="off"
      value={text}
      onChange={event => {
        setText(event.target.value)
        change({ values: split(event.target.value) })
      }}
    />
  )
}

function DeviceFields({ node, change }: Props) {
  const values = node.values ?? []
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Any of these leads to yes</legend>
      <div className="grid grid-cols-2 gap-2">
        {DEVICES.map(device => (
          <Checkbox
            key={device}
            label={device}
            checked={values.includes(device)}
            onChange={event =>
              change({ values: event.target.checked ? [...values, device] : values.filter(value => value !== device) })
            }
          />
        ))}
      </div>
    </fieldset>
  )
}

function TimeFields({ node, change }: Props) {
  const days = node.days ?? []
  return (
    <>
      <fieldset>
        <legend className="mb-1 font-medium">Days</legend>
        <div className="grid grid-cols-4 gap-2">
          {DAYS.map(day => (
            <Checkbox
              key={day}
              label={day}
              checked={days.includes(day)}
              onChange={event =>
                change({ days: DAYS.filter(one => (one === day ? event.target.checked : days.includes(one))) })
              }
            />
          ))}
        </div>
      </fieldset>
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="From"
          type="time"
          value={node.from_time ?? ''}
          onChange={event => change({ from_time: event.target.value || null })}
        />
        <TextField
          label="To"
          type="time"
          value={node.to_time ?? ''}
          onChange={event => change({ to_time: event.target.value || null })}
        />
      </div>
      <TextField
        label="Time zone"
        placeholder="UTC"
        hint="Such as Europe/Berlin. From later than to means over midnight."
        value={node.time_zone ?? ''}
        onChange={event => change({ time_zone: event.target.value || null })}
      />
    </>
  )
}

/** The fields of a condition. */
import { useState } from 'react'
import { MOST_HOURS } from '../../../contract/flow-graph.ts'
import { CONDITION_FIELDS, DAYS, DEVICES, MATCHES } from '../../../traffic/click-flows/api.ts'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { CountryField } from './country-field.tsx'
import type { WireNode } from './graph.ts'
import { FIELD_WORDS } from './names.ts'

type Props = { node: WireNode; change: (changes: Partial<WireNode>) => void }

const NO_VALUES = {
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
        label="Condition"
        value={node.field ?? ''}
        onChange={event =>
          change({ ...NO_VALUES, field: CONDITION_FIELDS.find(field => field === event.target.value) ?? null })
        }
      >
        <option value="">Choose …</option>
        {CONDITION_FIELDS.map(field => (
          <option key={field} value={field}>
            {FIELD_WORDS[field] ?? field}
          </option>
        ))}
      </SelectField>
      <ValueFields node={node} change={change} />
    </>
  )
}

function ValueFields({ node, change }: Props) {
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
          label="Match"
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
      label="No visit in the last, hours"
      optional
      type="number"
      min={1}
      max={MOST_HOURS}
      hint={
        hours === null
          ? 'Yes on the first visit to any of your campaigns. With hours (at most 720): yes if there was no visit to this campaign in that time.'
          : 'Yes if the visitor’s cookie shows no visit to this campaign in these hours. Visitors without cookies count as new.'
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
  language: 'en matches every English, pt-BR only Brazilian Portuguese',
  os: 'Android, iOS, Windows, Mac OS, Linux',
  browser: 'Chrome, Safari, Mobile Safari, Firefox, Samsung Internet',
}

const split = (text: string): string[] => [...new Set(text.split(/[,\n]/).map(value => value.trim()))].filter(Boolean)

function ValuesField({ node, change }: Props) {
  // The text stays as typed, because a trailing comma is not a value yet.
  const [text, setText] = useState((node.values ?? []).join(', '))
  return (
    <TextField
      label="Values, separated by commas"
      hint={EXAMPLES[node.field ?? ''] ?? 'Yes if any of these matches; case does not matter'}
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
      <legend className="mb-1 font-medium">Yes if any of these matches</legend>
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
        hint="Such as Europe/Berlin. From 22:00 to 06:00 spans midnight."
        value={node.time_zone ?? ''}
        onChange={event => change({ time_zone: event.target.value || null })}
      />
    </>
  )
}

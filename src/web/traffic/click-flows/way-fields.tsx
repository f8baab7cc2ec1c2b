/** The cells of a rule: its landings, and its offers or other destination, with weights. */
import { X } from 'lucide-react'
import { MOST_EDGE_WEIGHT } from '../../../traffic/click-flows/api.ts'
import { IconButton } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import type { Choices } from './choices.ts'
import { withPart } from './graph.ts'
import { percentOf } from './next-steps.tsx'
import { RedirectFields } from './node-form.tsx'
import { ObjectField } from './object-field.tsx'
import type { RulePart } from './rules.ts'

type PartsProps = {
  type: 'landing' | 'offer'
  parts: readonly RulePart[]
  choices: Choices
  onChange: (parts: RulePart[]) => void
}

/** The chosen landings or offers with their weights, and a select that adds one. */
export function PartsField({ type, parts, choices, onChange }: PartsProps) {
  const key = `${type}_id` as const
  const total = parts.reduce((sum, { weight }) => sum + weight, 0)
  const put = (at: number, changes: Partial<RulePart>) =>
    onChange(parts.map((part, other) => (other === at ? { ...part, ...changes } : part)))
  const add = (id: string | null) => {
    const part = { node: { id: '', type, [key]: id }, weight: 0 }
    if (id !== null) onChange(parts.length === 0 ? [part] : withPart(parts, part))
  }
  const ids = parts.flatMap(({ node }) => node[key] ?? [])
  return (
    <div className="flex flex-col gap-1.5">
      {parts.map(({ node, weight }, at) => {
        const name = choices[type].find(({ id }) => id === node[key])?.name ?? node[key] ?? 'none'
        return (
          <div key={node.id} className="flex items-center gap-1.5">
            <ObjectField
              type={type}
              label={`${type === 'landing' ? 'Landing' : 'Offer'} ${at + 1}`}
              hideLabel
              none="Choose …"
              className="flex-1"
              choices={choices}
              chosen={node[key] ?? ''}
              without={ids.filter(id => id !== node[key])}
              onChoose={id => put(at, { node: { ...node, [key]: id } })}
            />
            {parts.length > 1 && (
              <>
                <TextField
                  label={`Weight of ${name}`}
                  hideLabel
                  inputMode="numeric"
                  autoComplete="off"
                  className="w-14"
                  value={weight}
                  onChange={({ target }) => put(at, { weight: weightOf(target.value) })}
                />
                <span className="w-9 text-right text-sm text-ink-faint tabular-nums">{percentOf(weight, total)}</span>
              </>
            )}
            <IconButton
              icon={X}
              size="sm"
              label={`Remove ${name}`}
              onClick={() => onChange(parts.filter((_, other) => other !== at))}
            />
          </div>
        )
      })}
      <ObjectField
        // A new key after each choice resets the select.
        key={parts.length}
        type={type}
        label={`Add ${type === 'landing' ? 'a landing' : 'an offer'}`}
        hideLabel
        none={type === 'landing' ? (parts.length === 0 ? 'No landing' : 'Add a landing …') : 'Add an offer …'}
        choices={choices}
        chosen=""
        without={ids}
        onChoose={add}
      />
    </div>
  )
}

const weightOf = (text: string): number => Math.min(MOST_EDGE_WEIGHT, Math.max(0, Math.round(Number(text)) || 0))

type EndsProps = {
  ends: readonly RulePart[]
  hasLandings: boolean
  choices: Choices
  onChange: (ends: RulePart[]) => void
}

const KINDS = {
  offer: 'Offers',
  redirect: 'An address',
  bot: 'A bot',
  mini_app: 'A Mini App',
  channel: 'A channel',
} as const
type Kind = keyof typeof KINDS

/** Offers, or a single address, bot, Mini App or channel. */
export function EndsField({ ends, hasLandings, choices, onChange }: EndsProps) {
  const [first] = ends
  const kind = first !== undefined && first.node.type in KINDS ? (first.node.type as Kind) : 'offer'
  const change = (changes: object) =>
    first !== undefined && onChange([{ ...first, node: { ...first.node, ...changes } }])
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label="Kind"
        hideLabel
        toolbar
        value={kind}
        onChange={({ target }) =>
          onChange(target.value === 'offer' ? [] : [{ node: { id: '', type: target.value as Kind }, weight: 0 }])
        }
      >
        {Object.entries(KINDS)
          // A redirect cannot follow a landing.
          .filter(([type]) => type !== 'redirect' || !hasLandings || kind === 'redirect')
          .map(([type, words]) => (
            <option key={type} value={type}>
              {words}
            </option>
          ))}
      </SelectField>
      {kind === 'offer' && <PartsField type="offer" parts={ends} choices={choices} onChange={onChange} />}
      {kind === 'redirect' && first !== undefined && (
        <RedirectFields node={first.node} choices={choices} change={change} />
      )}
      {(kind === 'bot' || kind === 'mini_app') && first !== undefined && (
        <ObjectField
          type="bot"
          label="Bot"
          hideLabel
          none="Choose …"
          choices={choices}
          chosen={first.node.bot_id ?? ''}
          onChoose={bot_id => change({ bot_id })}
        />
      )}
      {kind === 'channel' && first !== undefined && (
        <ObjectField
          type="channel"
          label="Channel"
          hideLabel
          none="Choose …"
          choices={choices}
          chosen={first.node.channel_id ?? ''}
          onChoose={channel_id => change({ channel_id })}
        />
      )}
    </div>
  )
}

/** The form of one node: what it does, and where it leads. Everything a canvas can do can be done here without one. */
import { Trash2 } from 'lucide-react'
import { previewOffer } from '../../../traffic/offers/api.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { AddressPreview } from '../offers/address-preview.tsx'
import type { Choices } from './choices.ts'
import { ConditionFields } from './condition-fields.tsx'
import { changed, TYPE_WORDS, type WireGraph, type WireNode, withoutNodes } from './graph.ts'
import { NextSteps } from './next-steps.tsx'

type Props = {
  graph: WireGraph
  node: WireNode
  choices: Choices
  problems: readonly string[]
  onChange: (graph: WireGraph) => void
  onRemoved: () => void
}

export function NodeForm({ graph, node, choices, problems, onChange, onRemoved }: Props) {
  const change = (changes: Partial<WireNode>) => onChange(changed(graph, node.id, changes))
  return (
    <section aria-label={`${TYPE_WORDS[node.type]} ${node.id}`} className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-2">
        <h2 className="text-lg">
          {TYPE_WORDS[node.type]} <code className="font-mono text-sm font-normal text-ink-faint">{node.id}</code>
        </h2>
        <Button
          look="danger-quiet"
          size="sm"
          icon={Trash2}
          onClick={() => {
            onChange(withoutNodes(graph, [node.id]))
            onRemoved()
          }}
        >
          Remove
        </Button>
      </div>
      {problems.length > 0 && (
        <ul className="flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-2">
          {problems.map(problem => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <TextField
        label="Label"
        optional
        autoComplete="off"
        maxLength={100}
        value={node.label ?? ''}
        onChange={event => change({ label: event.target.value })}
      />
      <OwnFields node={node} choices={choices} change={change} />
      <NextSteps graph={graph} node={node} onChange={onChange} />
    </section>
  )
}

type OwnProps = { node: WireNode; choices: Choices; change: (changes: Partial<WireNode>) => void }

function OwnFields({ node, choices, change }: OwnProps) {
  switch (node.type) {
    case 'condition':
      return <ConditionFields node={node} change={change} />
    case 'redirect':
      return (
        <>
          <TextField
            label="Address"
            placeholder="https://example.com/?c={click_id}"
            hint="Macros as in offers: {click_id}, {sub1} to {sub9}, {geo} …"
            value={node.url ?? ''}
            onChange={event => change({ url: event.target.value })}
          />
          <AddressPreview address={node.url ?? ''} preview={url => call(previewOffer, { body: { url } })} />
          <SelectField
            label="Earns for"
            hint="The offer that these clicks belong to. None: they count for no offer, whatever the campaign names."
            value={node.earns_for_offer_id ?? ''}
            onChange={event => change({ earns_for_offer_id: event.target.value || null })}
          >
            <option value="">No offer</option>
            <ChoiceOptions known={choices.offer} chosen={node.earns_for_offer_id ?? ''} />
          </SelectField>
        </>
      )
    case 'landing':
    case 'offer':
    case 'bot':
      return <ObjectField type={node.type} node={node} choices={choices} change={change} />
    default:
      return null
  }
}

const HINTS = {
  landing: 'Its link leads on to the offer or the bot behind it.',
  offer: 'The click belongs to it and earns its payout.',
  bot: 'The visitor is sent to the bot with the click id; the start belongs to the click.',
}

function ObjectField({ type, node, choices, change }: OwnProps & { type: 'landing' | 'offer' | 'bot' }) {
  const key = `${type}_id` as const
  const chosen = node[key] ?? ''
  return (
    <SelectField
      label={TYPE_WORDS[type]}
      hint={HINTS[type]}
      value={chosen}
      onChange={event => change({ [key]: event.target.value || null })}
    >
      <option value="">Choose …</option>
      <ChoiceOptions known={choices[type]} chosen={chosen} />
    </SelectField>
  )
}

/** What may be chosen, and what is chosen though it may not be. */
function ChoiceOptions({ known, chosen }: { known: Choices[keyof Choices]; chosen: string }) {
  return (
    <>
      {chosen !== '' && known.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {known
        .filter(({ id, isArchived }) => !isArchived || id === chosen)
        .map(({ id, name, isArchived }) => (
          <option key={id} value={id}>
            {isArchived ? `${name} (archived)` : name}
          </option>
        ))}
    </>
  )
}

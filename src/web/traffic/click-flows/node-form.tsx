/** The form of one node: its fields and next steps. Everything the canvas does can be done here without a pointer. */
import { Trash2 } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { VISIT_MACROS } from '../../../contract/address.ts'
import { faultOfApp, faultOfStart } from '../../../contract/telegram.ts'
import { previewOffer } from '../../../traffic/offers/api.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { AddressPreview } from '../offers/address-preview.tsx'
import type { Choices } from './choices.ts'
import { ConditionFields } from './condition-fields.tsx'
import { changed, TYPE_WORDS, type WireGraph, type WireNode, withoutNodes } from './graph.ts'
import { described, type NodeNames } from './names.ts'
import { NextSteps } from './next-steps.tsx'
import { ObjectField } from './object-field.tsx'
import { EntranceFields } from '../telegram/channel-fields.tsx'
import { TelegramLinkFields } from '../telegram/place-fields.tsx'

type Props = {
  graph: WireGraph
  node: WireNode
  choices: Choices
  names: NodeNames
  problems: readonly string[]
  /** Whether the node was just added: its first field gets the focus. */
  isNew: boolean
  onChange: (graph: WireGraph) => void
  /** A node was added behind this one. */
  onAdded: (graph: WireGraph, id: string) => void
  onRemoved: () => void
}

export function NodeForm(props: Props) {
  const { graph, node, choices, names, problems, isNew, onChange, onAdded, onRemoved } = props
  const own = useRef<HTMLDivElement>(null)
  const change = (changes: Partial<WireNode>) => onChange(changed(graph, node.id, changes))
  useEffect(() => {
    if (isNew) own.current?.querySelector<HTMLElement>('select, input, button')?.focus({ preventScroll: true })
  }, [isNew])
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
      <div ref={own} className="flex flex-col gap-3">
        <OwnFields node={node} choices={choices} change={change} />
        <NextSteps graph={graph} node={node} names={names} onChange={onChange} onAdded={onAdded} />
      </div>
      <TextField
        label="Label"
        optional
        autoComplete="off"
        maxLength={100}
        placeholder={described(node, choices)}
        value={node.label ?? ''}
        onChange={event => change({ label: event.target.value || null })}
      />
    </section>
  )
}

type OwnProps = { node: WireNode; choices: Choices; change: (changes: Partial<WireNode>) => void }

const HINTS = {
  landing: 'Its link leads to the next step: an offer, a bot, a Mini App or a channel.',
  offer: 'The click is credited to this offer and earns its payout.',
}

function TelegramFields({ type, node, choices, change }: OwnProps & { type: 'bot' | 'mini_app' }) {
  const bot_id = node.bot_id ?? ''
  const faults = {
    app: node.app ? faultOfApp(node.app) : undefined,
    start: node.start ? faultOfStart(type, node.start) : undefined,
  }
  return (
    <>
      <ObjectField
        type="bot"
        label="Bot"
        hint="What people do in this bot is credited to the click that brought them."
        none="Choose …"
        choices={choices}
        chosen={bot_id}
        onChoose={id => change({ bot_id: id })}
      />
      <TelegramLinkFields place={{ ...node, type }} bot_id={bot_id} faults={faults} change={change} />
    </>
  )
}

function ChannelNodeFields({ node, choices, change }: OwnProps) {
  const channel_id = node.channel_id ?? ''
  return (
    <>
      <ObjectField
        type="channel"
        label="Channel"
        hint="Each visitor gets their own invite link, so that a join is credited to its click."
        none="Choose …"
        choices={choices}
        chosen={channel_id}
        onChoose={id => change({ channel_id: id })}
      />
      <EntranceFields place={node} channel_id={channel_id} change={change} />
    </>
  )
}

function OwnFields({ node, choices, change }: OwnProps) {
  switch (node.type) {
    case 'condition':
      return <ConditionFields node={node} change={change} />
    case 'redirect':
      return <RedirectFields node={node} choices={choices} change={change} />
    case 'bot':
    case 'mini_app':
      return <TelegramFields type={node.type} node={node} choices={choices} change={change} />
    case 'channel':
      return <ChannelNodeFields node={node} choices={choices} change={change} />
    case 'landing':
    case 'offer': {
      const key = `${node.type}_id` as const
      return (
        <ObjectField
          type={node.type}
          label={TYPE_WORDS[node.type]}
          hint={HINTS[node.type]}
          none="Choose …"
          choices={choices}
          chosen={node[key] ?? ''}
          onChoose={id => change({ [key]: id })}
        />
      )
    }
    default:
      return null
  }
}

export function RedirectFields({ node, choices, change }: OwnProps) {
  return (
    <>
      <TextField
        label="Address"
        placeholder="https://example.com/?c={click_id}"
        hint={`Macros: ${VISIT_MACROS}.`}
        value={node.url ?? ''}
        onChange={event => change({ url: event.target.value })}
      />
      <AddressPreview address={node.url ?? ''} preview={url => call(previewOffer, { body: { url } })} />
      <ObjectField
        type="offer"
        label="Credit to offer"
        hint="These clicks count for this offer. Blank = for no offer, whichever the campaign has."
        none="No offer"
        choices={choices}
        chosen={node.earns_for_offer_id ?? ''}
        onChoose={earns_for_offer_id => change({ earns_for_offer_id })}
      />
    </>
  )
}

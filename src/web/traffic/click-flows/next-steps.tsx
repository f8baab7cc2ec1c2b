/** Selects for the next steps of a node: how to draw edges without a pointer. */
import { X } from 'lucide-react'
import { MOST_EDGE_WEIGHT, NODE_TYPES } from '../../../traffic/click-flows/api.ts'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import {
  connected,
  evenly,
  isEven,
  leading,
  leadsOn,
  TYPE_WORDS,
  type WireEdge,
  type WireGraph,
  type WireNode,
  withStep,
} from './graph.ts'
import type { NodeNames } from './names.ts'

type Props = {
  graph: WireGraph
  node: WireNode
  names: NodeNames
  onChange: (graph: WireGraph) => void
  onAdded: (graph: WireGraph, id: string) => void
}

export function NextSteps(props: Props) {
  const { node } = props
  if (!leadsOn(node.type)) return null
  if (node.type === 'split') return <Shares {...props} />
  if (node.type !== 'condition') return <NextStep label="Leads to" branch={undefined} {...props} />
  return (
    <>
      <NextStep label="Yes leads to" branch="yes" {...props} />
      <NextStep label="No leads to" branch="no" {...props} />
    </>
  )
}

const NEW = 'new '

/** Applies a choice of `Targets`: connects to a node, or adds a new one. */
function choose({ graph, node, onChange, onAdded }: Props, value: string, branch: 'yes' | 'no' | undefined): void {
  const type = NODE_TYPES.find(type => value === NEW + type)
  if (type === undefined) onChange(connected(graph, node.id, value, branch))
  else onAdded(...withStep(graph, type, { from: node.id, branch }))
}

/** The options of a next step: every node that can follow, and every type of new node. */
function Targets({
  graph,
  node,
  names,
  taken = [],
}: Omit<Props, 'onChange' | 'onAdded'> & { taken?: readonly string[] }) {
  const others = graph.nodes.filter(({ id, type }) => id !== node.id && type !== 'entry' && !taken.includes(id))
  return (
    <>
      {others.length > 0 && (
        <optgroup label="In this flow">
          {others.map(({ id }) => (
            <option key={id} value={id}>
              {names.get(id)}
            </option>
          ))}
        </optgroup>
      )}
      <optgroup label="New">
        {NODE_TYPES.filter(type => type !== 'entry').map(type => (
          <option key={type} value={NEW + type}>
            {`New ${TYPE_WORDS[type].toLowerCase()}`}
          </option>
        ))}
      </optgroup>
    </>
  )
}

function NextStep({ label, branch, ...props }: Props & { label: string; branch: 'yes' | 'no' | undefined }) {
  const { graph, node, names, onChange } = props
  const own = graph.edges.filter(({ from }) => from === node.id)
  const isThis = (edge: WireEdge) => branch === undefined || edge.branch === branch
  const rest = own.filter(edge => !isThis(edge))
  return (
    <SelectField
      label={label}
      value={own.find(isThis)?.to ?? ''}
      onChange={({ target }) =>
        target.value === '' ? onChange(leading(graph, node.id, rest)) : choose(props, target.value, branch)
      }
    >
      <option value="">{node.type === 'landing' ? 'No next step' : 'Not set'}</option>
      <Targets graph={graph} node={node} names={names} />
    </SelectField>
  )
}

function Shares(props: Props) {
  const { graph, node, names, onChange } = props
  const edges = graph.edges.filter(({ from }) => from === node.id)
  const total = edges.reduce((sum, { weight }) => sum + (weight ?? 0), 0)
  const weigh = (to: string, text: string) => {
    const weight = Math.min(MOST_EDGE_WEIGHT, Math.max(0, Math.round(Number(text)) || 0))
    onChange(
      leading(
        graph,
        node.id,
        edges.map(edge => (edge.to === to ? { ...edge, weight } : edge)),
      ),
    )
  }
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 font-medium">Split visitors among</legend>
      {edges.map(({ to, weight }) => {
        const name = names.get(to) ?? to
        return (
          <div key={to} className="flex items-center gap-2">
            <span className="min-w-0 flex-1 truncate" title={name}>
              {name}
            </span>
            <TextField
              label={`Weight of ${name}`}
              hideLabel
              type="number"
              min={0}
              max={MOST_EDGE_WEIGHT}
              className="w-20"
              value={weight ?? 0}
              onChange={event => weigh(to, event.target.value)}
            />
            <span className="w-10 text-right text-ink-faint">{percentOf(weight ?? 0, total)}</span>
            <IconButton
              icon={X}
              label={`Remove ${name}`}
              size="sm"
              onClick={() =>
                onChange(
                  leading(
                    graph,
                    node.id,
                    edges.filter(edge => edge.to !== to),
                  ),
                )
              }
            />
          </div>
        )
      })}
      {edges.length > 1 && !isEven(edges) && (
        <Button size="sm" look="quiet" onClick={() => onChange(leading(graph, node.id, evenly(edges)))}>
          Split evenly
        </Button>
      )}
      <SelectField label="Add a branch" value="" onChange={event => choose(props, event.target.value, undefined)}>
        <option value="">Choose …</option>
        <Targets graph={graph} node={node} names={names} taken={edges.map(({ to }) => to)} />
      </SelectField>
    </fieldset>
  )
}

export const percentOf = (weight: number, total: number): string =>
  total === 0 ? '–' : `${Math.round((weight / total) * 100)} %`

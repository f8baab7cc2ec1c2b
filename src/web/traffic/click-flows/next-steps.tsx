/** Where a node leads, as selects: the way to draw edges without a pointer. */
import { X } from 'lucide-react'
import { MOST_WEIGHT } from '../../../traffic/click-flows/api.ts'
import { IconButton } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { connected, leading, leadsOn, nameOf, type WireEdge, type WireGraph, type WireNode } from './graph.ts'

type Props = { graph: WireGraph; node: WireNode; onChange: (graph: WireGraph) => void }

export function NextSteps({ graph, node, onChange }: Props) {
  if (!leadsOn(node.type)) return null
  if (node.type === 'split') return <Shares graph={graph} node={node} onChange={onChange} />
  if (node.type !== 'condition')
    return <NextStep label="Leads to" graph={graph} node={node} branch={undefined} onChange={onChange} />
  return (
    <>
      <NextStep label="Yes leads to" graph={graph} node={node} branch="yes" onChange={onChange} />
      <NextStep label="No leads to" graph={graph} node={node} branch="no" onChange={onChange} />
    </>
  )
}

/** Every node that may follow. */
function Targets({ graph, node, taken = [] }: Pick<Props, 'graph' | 'node'> & { taken?: readonly string[] }) {
  return graph.nodes
    .filter(({ id, type }) => id !== node.id && type !== 'entry' && !taken.includes(id))
    .map(one => (
      <option key={one.id} value={one.id}>
        {nameOf(one)}
      </option>
    ))
}

function NextStep({
  label,
  graph,
  node,
  branch,
  onChange,
}: Props & { label: string; branch: 'yes' | 'no' | undefined }) {
  const own = graph.edges.filter(({ from }) => from === node.id)
  const isThis = (edge: WireEdge) => branch === undefined || edge.branch === branch
  return (
    <SelectField
      label={label}
      value={own.find(isThis)?.to ?? ''}
      onChange={({ target }) =>
        onChange(
          target.value === ''
            ? leading(
                graph,
                node.id,
                own.filter(edge => !isThis(edge)),
              )
            : connected(graph, node.id, target.value, branch),
        )
      }
    >
      <option value="">{node.type === 'landing' ? 'Nothing behind it' : 'Nowhere yet'}</option>
      <Targets graph={graph} node={node} />
    </SelectField>
  )
}

function Shares({ graph, node, onChange }: Props) {
  const edges = graph.edges.filter(({ from }) => from === node.id)
  const total = edges.reduce((sum, { weight }) => sum + (weight ?? 0), 0)
  const weigh = (to: string, text: string) => {
    const weight = Math.min(MOST_WEIGHT, Math.max(0, Math.round(Number(text)) || 0))
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
      <legend className="mb-1 font-medium">Parts visitors among</legend>
      {edges.map(({ to, weight }) => {
        const target = graph.nodes.find(({ id }) => id === to)
        const name = target === undefined ? to : nameOf(target)
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
              max={MOST_WEIGHT}
              className="w-20"
              value={weight ?? 0}
              onChange={event => weigh(to, event.target.value)}
            />
            <span className="w-10 text-right text-ink-faint">{shareOf(weight ?? 0, total)}</span>
            <IconButton
              icon={X}
              label={`Leave out ${name}`}
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
      <SelectField
        label="Add a branch to"
        value=""
        onChange={event => onChange(connected(graph, node.id, event.target.value, undefined))}
      >
        <option value="">Choose …</option>
        <Targets graph={graph} node={node} taken={edges.map(({ to }) => to)} />
      </SelectField>
    </fieldset>
  )
}

/** A share in percent. */
export const shareOf = (weight: number, total: number): string =>
  total === 0 ? '–' : `${Math.round((weight / total) * 100)} %`

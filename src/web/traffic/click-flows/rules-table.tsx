/** The flow as a table of rules: a condition, then landings, then offers; and a last row for everyone else. It edits the same graph as the canvas. */
import { ArrowUp, Plus, X } from 'lucide-react'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import type { Choices } from './choices.ts'
import { ConditionFields } from './condition-fields.tsx'
import type { WireGraph } from './graph.ts'
import { graphOf, NO_PATH, type FlowRule, type Rules, rulesOf, type RulePath } from './rules.ts'
import { EndsField, PartsField } from './way-fields.tsx'

type RulesTableProps = {
  graph: WireGraph
  choices: Choices
  onChange: (graph: WireGraph) => void
  onCanvas: () => void
}

export function RulesTable({ graph, choices, onChange, onCanvas }: RulesTableProps) {
  const rules = rulesOf(graph)
  if (typeof rules === 'string')
    return (
      <Note>
        <p>The table cannot show this flow. {rules} The canvas shows all of it.</p>
        <Button size="sm" className="mt-2" onClick={onCanvas}>
          Open the canvas
        </Button>
      </Note>
    )
  const write = (changes: Partial<Rules>) => onChange(graphOf({ ...rules, ...changes }))
  const put = (at: number, rule: Partial<FlowRule>) =>
    write({ rules: rules.rules.map((one, other) => (other === at ? { ...one, ...rule } : one)) })
  return (
    <>
      <Table caption="Rules">
        <thead>
          <tr>
            <Head>Visitors</Head>
            <Head>See a landing</Head>
            <Head>Go to</Head>
            <Head unseen>Actions</Head>
          </tr>
        </thead>
        <tbody className="[&_td]:py-3 [&_td]:align-top [&_td]:whitespace-normal! [&_th]:py-3 [&_th]:align-top [&_th]:whitespace-normal!">
          {rules.rules.map(({ when, way }, at) => (
            <Row key={when.id} aria-label={`Rule ${at + 1}`}>
              <RowHead className="w-64 min-w-56 font-normal">
                <p className="mb-1.5 font-medium">{at === 0 ? 'If' : 'Else, if'}</p>
                <div className="flex flex-col gap-2">
                  <ConditionFields node={when} change={changes => put(at, { when: { ...when, ...changes } })} />
                </div>
              </RowHead>
              <WayCells way={way} choices={choices} onChange={way => put(at, { way })} />
              <Cell className="w-10">
                <span className="flex flex-col gap-1">
                  <IconButton
                    icon={X}
                    size="sm"
                    label={`Remove rule ${at + 1}`}
                    onClick={() => write({ rules: rules.rules.filter((_, other) => other !== at) })}
                  />
                  {at > 0 && (
                    <IconButton
                      icon={ArrowUp}
                      size="sm"
                      label={`Move rule ${at + 1} up`}
                      onClick={() => write({ rules: movedUp(rules.rules, at) })}
                    />
                  )}
                </span>
              </Cell>
            </Row>
          ))}
          <Row aria-label="Everyone else">
            <RowHead className="w-64 min-w-56 font-normal">
              <p className="mb-2 font-medium">{rules.rules.length === 0 ? 'Every visitor' : 'Everyone else'}</p>
              <Button
                size="sm"
                icon={Plus}
                onClick={() =>
                  write({
                    rules: [...rules.rules, { when: { id: '', type: 'condition', field: 'geo' }, way: NO_PATH }],
                  })
                }
              >
                Add a rule
              </Button>
            </RowHead>
            <WayCells way={rules.otherwise} choices={choices} onChange={otherwise => write({ otherwise })} />
            <Cell className="w-10" />
          </Row>
        </tbody>
      </Table>
    </>
  )
}

function movedUp(rules: readonly FlowRule[], at: number): FlowRule[] {
  const [rule] = rules.slice(at, at + 1)
  const rest = rules.filter((_, other) => other !== at)
  return rule === undefined ? rest : rest.toSpliced(at - 1, 0, rule)
}

function WayCells({ way, choices, onChange }: { way: RulePath; choices: Choices; onChange: (way: RulePath) => void }) {
  const [end] = way.ends
  const isAway = way.landings.length === 0 && end?.node.type === 'redirect'
  return (
    <>
      <Cell className="w-[36%] min-w-72">
        {isAway ? (
          <p className="text-ink-faint">No landing before a redirect</p>
        ) : (
          <PartsField
            type="landing"
            parts={way.landings}
            choices={choices}
            onChange={landings => onChange({ ...way, landings })}
          />
        )}
      </Cell>
      <Cell className="w-[38%] min-w-72">
        <EndsField
          ends={way.ends}
          hasLandings={way.landings.length > 0}
          choices={choices}
          onChange={ends => onChange({ ...way, ends })}
        />
      </Cell>
    </>
  )
}

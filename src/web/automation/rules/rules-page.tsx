/** Rules: what Sluice does by itself upon results. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Scale } from 'lucide-react'
import { createRule, deleteRule, listRules, updateRule } from '../../../automation/rules/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { moment, NONE } from '../../ground/figures/figures.ts'
import { HistoryItem } from '../../ground/history/object-history.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage } from '../../ground/ui/list-page.tsx'
import { MenuLine } from '../../ground/ui/menu.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { Switch } from '../../ground/ui/switch.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { NewRule } from './rule-form.tsx'
import { reasonInWords, rhythmInWords, ruleInWords, type RuleView, STATES } from './words.ts'

const route = getRouteApi('/inside/automation/rules')

export function RulesPage() {
  const address = useListAddress(route.useSearch())
  const navigate = useNavigate()
  const rules = useQuery({ ...ask(listRules, { query: address.search }), placeholderData: keepPreviousData })
  return (
    <ListPage
      title="Rules"
      words="What Sluice does by itself upon results: it leaves out zones that lose money, pauses campaigns, or tells you. Each act can be put back."
      query={rules}
      address={address}
      empty={{ icon: Scale, words: 'Leave out what loses money as soon as it is sure. Try a rule on past days first.' }}
      add={{
        endpoint: createRule,
        words: 'New rule',
        dialog: ({ open, onClose }) => (
          <NewRule
            open={open}
            onClose={onClose}
            onCreated={id => void navigate({ to: '/automation/rules/$id', params: { id } })}
          />
        ),
      }}
    >
      {rows => (
        <Table caption="Rules">
          <thead>
            <tr>
              <Head stay>Name</Head>
              <Head>On</Head>
              <Head>State</Head>
              <Head>Rule</Head>
              <Head>Checked</Head>
              <Head>Next check</Head>
              <ActionHead />
            </tr>
          </thead>
          <tbody>
            {rows.map(rule => (
              <RuleLine key={rule.id} rule={rule} />
            ))}
          </tbody>
        </Table>
      )}
    </ListPage>
  )
}

function RuleLine({ rule }: { rule: RuleView }) {
  const { id, name, next_check_at } = rule
  const words = ruleInWords(rule)
  return (
    <Row>
      <RowHead stay>
        <Link to="/automation/rules/$id" params={{ id }} className="font-medium hover:underline">
          {name}
        </Link>
      </RowHead>
      <Cell>
        <ActiveSwitch rule={rule} />
      </Cell>
      <Cell>
        <RuleState rule={rule} />
      </Cell>
      <Cell className="max-w-md truncate" title={words}>
        {words}
      </Cell>
      <Cell>{rhythmInWords(rule)}</Cell>
      <Cell>{next_check_at === null ? NONE : moment(next_check_at)}</Cell>
      <ActionCell>
        <RowMenu name={name}>
          <HistoryItem kind="rule" id={id} />
          <MenuLine />
          <DeleteItem
            name={name}
            what="rule"
            words="It does nothing more, and its log is deleted. What it did stays."
            endpoint={deleteRule}
            refresh={[listRules]}
            deed={() => call(deleteRule, { params: { id } })}
          />
        </RowMenu>
      </ActionCell>
    </Row>
  )
}

export function RuleState({ rule: { active, state, waits_for } }: { rule: RuleView }) {
  if (!active && state === 'watching') return <Badge>Off</Badge>
  const { words, tone } = STATES[state]
  return (
    <Badge tone={tone} title={reasonInWords(waits_for)}>
      {words}
    </Badge>
  )
}

function ActiveSwitch({ rule: { id, name, active } }: { rule: RuleView }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const turn = async (on: boolean) => {
    try {
      await call(updateRule, { params: { id }, body: { active: on } })
      await refresh(listRules)
      notify(`${name} is ${on ? 'on' : 'off'}`)
    } catch (error) {
      notify('Nothing has changed', error instanceof Error ? error.message : undefined)
    }
  }
  return <Switch label={name} on={active} reason={reasonAgainst(updateRule, role)} onTurn={on => void turn(on)} />
}

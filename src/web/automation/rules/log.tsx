/** The log of a rule: each check with its objects, their figures, and the way back. */
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listRuleChecks } from '../../../automation/rules/api.ts'
import { undoChange } from '../../../people/history/api.ts'
import { call } from '../../ground/call.ts'
import { useCampaignNames } from '../../ground/campaign-choice.tsx'
import { count, exactMoment } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { zoneWords } from '../../ground/zone.ts'
import { useValueNames } from './value-names.ts'
import { actedInWords, type CheckView, figureInWords, reasonInWords } from './words.ts'

type CheckedObject = CheckView['objects'][number]

const STATES = {
  acted: { words: 'Acted', tone: 'good' },
  asked: { words: 'Asked', tone: 'accent' },
  waited: { words: 'Waited', tone: 'warn' },
  nothing: { words: 'Failed', tone: 'bad' },
} as const

export function CheckLog({ checks }: { checks: readonly CheckView[] }) {
  const nameOf = useCampaignNames(checks.flatMap(({ objects }) => objects.map(({ campaign_id }) => campaign_id)))
  const valueOf = useValueNames(checks.flatMap(({ objects }) => objects))
  if (checks.length === 0) return <p className="text-ink-soft">It has not acted yet.</p>
  return (
    <Table caption="Checks">
      <thead>
        <tr>
          <Head stay>{`Time (${zoneWords()})`}</Head>
          <Head>Check</Head>
          <Head>What</Head>
          <Head>Act</Head>
          <Head numeric>Clicks</Head>
          <Head numeric>Conv.</Head>
          <Head numeric>Cost</Head>
          <Head numeric>Revenue</Head>
          <Head numeric>ROI</Head>
          <ActionHead>Put it back</ActionHead>
        </tr>
      </thead>
      <tbody>
        {checks.flatMap(check =>
          (check.objects.length === 0 ? [undefined] : check.objects).map((object, at) => (
            <Row key={`${check.id} ${at}`}>
              <RowHead stay className="font-normal!">
                {exactMoment(check.checked_at)}
              </RowHead>
              <Cell title={`Version ${check.version} of the rule`}>
                <Badge tone={STATES[check.state].tone}>{STATES[check.state].words}</Badge>
                {check.reason !== null && <span className="ml-2 text-ink-soft">{reasonInWords(check.reason)}</span>}
              </Cell>
              <ObjectCells
                object={object}
                value={object === undefined ? null : valueOf(object)}
                name={object && nameOf(object.campaign_id)}
                isAsked={check.state === 'asked'}
              />
            </Row>
          )),
        )}
      </tbody>
    </Table>
  )
}

type ObjectProps = {
  object: CheckedObject | undefined
  value: string | null
  name: string | undefined
  isAsked: boolean
}

function ObjectCells({ object, value, name, isAsked }: ObjectProps) {
  if (object === undefined) return <Cell colSpan={8} />
  const { campaign_id, field, act, figures, history_id } = object
  return (
    <>
      <Cell className="max-w-72 truncate">
        {value !== null && <span>{`${field ?? ''} ${value} of `}</span>}
        <Link to="/campaigns/$id" params={{ id: campaign_id }} className="hover:underline">
          {name}
        </Link>
      </Cell>
      <Cell faint={isAsked}>{actedInWords(act)}</Cell>
      <Cell numeric>{count(figures.clicks)}</Cell>
      <Cell numeric>{count(figures.conversions)}</Cell>
      <Cell numeric>{figureInWords('cost', figures.cost)}</Cell>
      <Cell numeric>{figureInWords('revenue', figures.revenue)}</Cell>
      <Cell numeric>{figureInWords('roi', figures.roi)}</Cell>
      <ActionCell>
        {history_id !== null && <PutBack history_id={history_id} what={value ?? name ?? 'this'} />}
      </ActionCell>
    </>
  )
}

function PutBack({ history_id, what }: { history_id: string; what: string }) {
  const confirm = useConfirm()
  const client = useQueryClient()
  const undo = async () => {
    await call(undoChange, { params: { id: history_id }, body: { whole_act: false } })
    await client.invalidateQueries()
  }
  return (
    <Button
      size="sm"
      look="quiet"
      aria-label={`Put back the act on ${what}`}
      onClick={() =>
        confirm({
          title: `Put back the act on ${what}?`,
          words: 'It is as before from the next click on. The rule acts on it again after 24 hours at the earliest.',
          action: 'Put it back',
          look: 'primary',
          deed: undo,
          refresh: [listRuleChecks],
          news: 'It is put back',
        })
      }
    >
      Put it back
    </Button>
  )
}

/** The split tests of a funnel or a click flow: figures of each variant, the rules of a decision, the end of a test, and its automatic weights. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Split } from 'lucide-react'
import type { z } from 'zod'
import { readClickFlowTests, readFunnelTests, type SplitTest } from '../../../reading/split-tests/api.ts'
import { readClickFlow } from '../../../traffic/click-flows/api.ts'
import { readFunnel } from '../../../traffic/funnels/api.ts'
import { setClickFlowTestAutomatic, setFunnelTestAutomatic } from '../../../traffic/automatic-weights/api.ts'
import { endClickFlowTest, endFunnelTest } from '../../../traffic/test-ends/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count, day, money, percent } from '../../ground/figures/figures.ts'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { EmptyState, Loaded, PageHeader, Section } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { AutomaticWeights, type TurnTest } from './automatic.tsx'

type Test = z.input<typeof SplitTest>
type Variant = Test['variants'][number]
type EndTest = (test_id: string, winner: string | null) => Promise<unknown>

const funnelRoute = getRouteApi('/inside/funnels/$id/tests')
const flowRoute = getRouteApi('/inside/click-flows/$id/tests')

export function FunnelTestsPage() {
  const { id } = funnelRoute.useParams()
  const name = useQuery(ask(readFunnel, { params: { id } })).data?.name
  const tests = useQuery(ask(readFunnelTests, { params: { id } }))
  const named = (test_id: string) => (test_id === 'offers' ? 'offers' : 'landings')
  const end: EndTest = (test_id, winner) =>
    call(endFunnelTest, { params: { id }, body: { test_id: named(test_id), winner } })
  const turn: TurnTest = (test_id, automatic) =>
    call(setFunnelTestAutomatic, { params: { id }, body: { test_id: named(test_id), automatic } })
  return (
    <>
      <BackLink to="/funnels">Funnels</BackLink>
      <Tests name={name} tests={tests} end={end} turn={turn} />
    </>
  )
}

export function FlowTestsPage() {
  const { id } = flowRoute.useParams()
  const name = useQuery(ask(readClickFlow, { params: { id } })).data?.name
  const tests = useQuery(ask(readClickFlowTests, { params: { id } }))
  const end: EndTest = (test_id, winner) => call(endClickFlowTest, { params: { id }, body: { test_id, winner } })
  const turn: TurnTest = (test_id, automatic) =>
    call(setClickFlowTestAutomatic, { params: { id }, body: { test_id, automatic } })
  return (
    <>
      <BackLink to="/click-flows">Click flows</BackLink>
      <Tests name={name} tests={tests} end={end} turn={turn} />
    </>
  )
}

type Acts = { end: EndTest; turn: TurnTest }
type TestsProps = Acts & { name: string | undefined; tests: UseQueryResult<{ data: Test[] }> }

function Tests({ name, tests, ...acts }: TestsProps) {
  return (
    <>
      <PageHeader
        title={name === undefined ? 'Split tests' : `Split tests of ${name}`}
        words="Each visitor counts once, with the variant of their first click. Visitors who may still convert are counted later."
      />
      <Loaded query={tests} what="split tests">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              icon={Split}
              title="Nothing is compared"
              words="A test begins by itself where visitors are shared between at least two active landings, offers or branches."
            />
          ) : (
            data.map(test => <OneTest key={test.id} test={test} {...acts} />)
          )
        }
      </Loaded>
    </>
  )
}

const TITLES = { landings: 'Landings', offers: 'Offers' } as const

function OneTest({ test, end, turn }: Acts & { test: Test }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const { id, of, node, since, state, winner, heavy_tail, variants } = test
  const reason = reasonAgainst(endFunnelTest, role)
  const goOn = (
    <Button
      size="sm"
      reason={reason}
      onClick={() =>
        confirm({
          title: 'Go on with the test?',
          words: 'New visitors are shared by the weights again. Everybody else keeps their variant.',
          action: 'Go on',
          deed: () => end(id, null),
          refresh: [readFunnelTests, readClickFlowTests],
          news: 'The test goes on',
        })
      }
    >
      Go on with the test
    </Button>
  )
  const kept = variants.find(one => one.id === winner)?.name
  const title = of === 'split' ? `split ${node}` : of
  // Without revenue, variants are compared by their conversions.
  const isOfMoney = variants.some(one => one.epv.to > 0)
  return (
    <Section title={of === 'split' ? `Split ${node}` : TITLES[of]} aside={state === 'ended' ? goOn : undefined}>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Badge tone={state === 'running' ? 'plain' : 'good'}>{STATES[state]}</Badge>
        <span className="text-ink-soft">{`Since ${day(since)}.`}</span>
        <span>{verdictOf(test, kept)}</span>
      </div>
      {heavy_tail && (
        <Note kind="warning">
          One visitor brought over a fifth of the revenue. Earnings per visitor mean little here, so no winner is named.
        </Note>
      )}
      <Table caption={`Variants of ${title}`}>
        <thead>
          <tr>
            <Head stay>Variant</Head>
            <Head numeric>Weight</Head>
            <Head numeric>Visitors</Head>
            <Head numeric title="Old enough that nine of ten conversions would have come">
              Matured
            </Head>
            <Head numeric>Conversions</Head>
            <Head numeric>CR</Head>
            <Head numeric title="Earnings per matured visitor">
              EPV
            </Head>
            <Head title={`The range that holds the true ${isOfMoney ? 'EPV' : 'CR'} with 90 % probability`}>
              90 % range
            </Head>
            <Head numeric title="The probability that no variant is better">
              Best
            </Head>
            <Head numeric title={`How much ${isOfMoney ? 'EPV' : 'CR'} is lost on average by keeping this variant`}>
              Expected loss
            </Head>
            <ActionHead />
          </tr>
        </thead>
        <tbody>
          {variants.map(variant => (
            <Row key={variant.id}>
              <RowHead stay className="max-w-64 truncate">
                {variant.name}
              </RowHead>
              <Cell numeric>{variant.weight}</Cell>
              <Cell numeric>{count(variant.visitors)}</Cell>
              <Cell numeric>{count(variant.matured)}</Cell>
              <Cell numeric>{count(variant.conversions)}</Cell>
              <Cell numeric>{percent(variant.rate.mean)}</Cell>
              <Cell numeric>{earned(variant.epv.mean)}</Cell>
              <Cell>
                <RangeBar variant={variant} all={variants} isOfMoney={isOfMoney} />
              </Cell>
              <Cell numeric>{percent(isOfMoney ? variant.epv.best : variant.rate.best)}</Cell>
              <Cell numeric>{isOfMoney ? earned(variant.epv.loss) : percent(variant.rate.loss)}</Cell>
              <ActionCell>
                {state !== 'ended' && (
                  <Button
                    size="sm"
                    look={variant.id === winner ? 'primary' : 'quiet'}
                    aria-label={`Keep ${variant.name}`}
                    reason={reason}
                    onClick={() =>
                      confirm({
                        title: `End the test and keep ${variant.name}?`,
                        words:
                          'New visitors get it from their next click. Everybody who has come before keeps their variant. You can go on with the test later.',
                        action: 'End and keep it',
                        deed: () => end(id, variant.id),
                        refresh: [readFunnelTests, readClickFlowTests],
                        news: `New visitors get ${variant.name}`,
                      })
                    }
                  >
                    Keep
                  </Button>
                )}
              </ActionCell>
            </Row>
          ))}
        </tbody>
      </Table>
      <p className="mt-2 text-sm text-ink-faint">{rulesOf(test)}</p>
      <AutomaticWeights test={test} title={title} turn={turn} />
    </Section>
  )
}

const STATES = { running: 'Running', ready: 'Decided', ended: 'Ended' } as const

const earned = (dollars: number): string => `$${money(dollars.toFixed(4))}`

function verdictOf({ state, needs: { visitors, days } }: Test, kept: string | undefined): string {
  if (state === 'ended') return `New visitors get ${kept ?? 'the winner'}.`
  if (state === 'ready') return `${kept ?? 'One variant'} is better: little is lost by keeping it.`
  if (visitors === null || days === null) return 'No visitor has come yet.'
  if (visitors === 0) return days === 0 ? 'No winner is named.' : `About ${days} more days.`
  return `About ${count(visitors)} more visitors, some ${count(days)} days.`
}

const rulesOf = ({ rules: { expected_loss, days, conversions } }: Test): string =>
  `Decided when keeping the better one loses less than ${percent(expected_loss)} of the best EPV, after at least ${days} days and ${conversions} conversions of each variant.`

type RangeProps = { variant: Variant; all: readonly Variant[]; isOfMoney: boolean }

/** Where the range of a variant lies among those of all. */
function RangeBar({ variant: { epv, rate }, all, isOfMoney }: RangeProps) {
  const own = isOfMoney ? epv : rate
  const most = Math.max(...all.map(one => (isOfMoney ? one.epv.to : one.rate.to)), Number.MIN_VALUE)
  const at = (value: number) => `${(value / most) * 100}%`
  const words = isOfMoney ? `${earned(own.from)} to ${earned(own.to)}` : `${percent(own.from)} to ${percent(own.to)}`
  return (
    <span className="relative block h-2 w-40 rounded-full bg-sunken" title={words}>
      <span className="sr-only">{words}</span>
      <span
        aria-hidden
        className="absolute inset-y-0 rounded-full bg-chart-1/50"
        style={{ left: at(own.from), width: at(own.to - own.from) }}
      />
      <span aria-hidden className="absolute inset-y-[-2px] w-0.5 bg-chart-1" style={{ left: at(own.mean) }} />
    </span>
  )
}

/** The lines of a compared file, and what an act does with them. */
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { toUuid } from '../../../contract/ids.ts'
import type { ActedLine, ReconciledLine } from '../../../intake/reconciliations/api.ts'
import { count, exactMoment, exactMoney, NONE } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Checkbox } from '../../ground/ui/field.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { zoneWords } from '../../ground/zone.ts'
import { ConversionStatusBadge } from '../revisions/standing.tsx'

type LineRow = z.input<typeof ReconciledLine>
type ActedRow = z.input<typeof ActedLine>

const MATCHED = {
  transaction_and_click: 'Transaction and click',
  transaction: 'Transaction',
  click: 'Click',
} as const

export function ReconciledLines({ lines }: { lines: readonly LineRow[] }) {
  return (
    <Table caption="Lines">
      <thead>
        <tr>
          <Head stay>Line</Head>
          <Head>Transaction</Head>
          <Head>Click</Head>
          <Head numeric>Here, $</Head>
          <Head>Status here</Head>
          <Head numeric>There, $</Head>
          <Head>Status there</Head>
          <Head>{`Time (${zoneWords()})`}</Head>
          <Head>Matched by</Head>
        </tr>
      </thead>
      <tbody>
        {lines.map(line => (
          <LineCells key={line.line ?? line.event_id} line={line} />
        ))}
      </tbody>
    </Table>
  )
}

function LineCells({ line }: { line: LineRow }) {
  const { here, there, click_id } = line
  const at = there?.at ?? here?.at ?? null
  if (line.heap === 'wrong')
    return (
      <Row>
        <RowHead stay>{line.line}</RowHead>
        <Cell colSpan={8} className="whitespace-normal!">
          {sentence(line.error ?? '')}
        </Cell>
      </Row>
    )
  return (
    <Row>
      <RowHead stay>{line.line ?? NONE}</RowHead>
      <Cell faint={line.transaction_id === null} className="max-w-44 truncate" title={line.transaction_id ?? undefined}>
        {line.transaction_id ?? NONE}
      </Cell>
      <Cell className="max-w-60 truncate">
        {click_id === null || toUuid(click_id) === undefined ? (
          (click_id ?? NONE)
        ) : (
          <Link to="/clicks/$id" params={{ id: click_id }} className="font-mono text-accent hover:underline">
            {click_id}
          </Link>
        )}
      </Cell>
      <Cell numeric faint={here === null}>
        {here === null ? NONE : exactMoney(here.amount)}
      </Cell>
      <Cell>{here !== null && <ConversionStatusBadge status={here.status} />}</Cell>
      <Cell numeric faint={there?.amount_usd == null}>
        {there?.amount_usd == null ? NONE : exactMoney(there.amount_usd)}
        {there?.amount != null && there.currency !== 'USD' && (
          <span className="block text-sm text-ink-faint">{`${exactMoney(there.amount)} ${there.currency}`}</span>
        )}
      </Cell>
      <Cell>{there !== null && <ConversionStatusBadge status={there.status} />}</Cell>
      <Cell faint={at === null}>{at === null ? NONE : exactMoment(at)}</Cell>
      <Cell faint>
        {line.repeats_line !== null
          ? `Repeats line ${line.repeats_line}`
          : line.error !== null
            ? sentence(line.error)
            : line.matched_by === null
              ? NONE
              : MATCHED[line.matched_by]}
      </Cell>
    </Row>
  )
}

/** The most lines shown; the act is on all of them. */
const MOST_LINES = 200

type ActedProps = {
  lines: readonly ActedRow[]
  leftOut: readonly number[]
  onLeaveOut: (lines: readonly number[]) => void
}

export function ActedLines({ lines, leftOut, onLeaveOut }: ActedProps) {
  const listed = lines
    .toSorted(
      (one, other) => Number(other.fate === 'refused') - Number(one.fate === 'refused') || one.line - other.line,
    )
    .slice(0, MOST_LINES)
  const toggle = (line: number) =>
    onLeaveOut(leftOut.includes(line) ? leftOut.filter(one => one !== line) : [...leftOut, line])
  return (
    <>
      <Table caption="What happens to each line">
        <thead>
          <tr>
            <Head stay>Line</Head>
            <Head>Transaction or click</Head>
            <Head>What happens</Head>
          </tr>
        </thead>
        <tbody>
          {listed.map(row => (
            <Row key={row.line}>
              <RowHead stay>
                {row.fate === 'changes' ? (
                  <Checkbox
                    label={`Line ${row.line}`}
                    checked={!leftOut.includes(row.line)}
                    onChange={() => toggle(row.line)}
                  />
                ) : (
                  row.line
                )}
              </RowHead>
              <Cell className="max-w-60 truncate">{row.name ?? NONE}</Cell>
              <Cell className="whitespace-normal!">
                <Outcome row={row} />
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      {lines.length > listed.length && (
        <p className="mt-2 text-ink-faint">{count(lines.length - listed.length)} more lines are not shown.</p>
      )}
    </>
  )
}

function Outcome({ row }: { row: ActedRow }) {
  if (row.fate === 'refused')
    return (
      <>
        <Badge tone="bad">Refused</Badge> {sentence(row.error ?? '')}
      </>
    )
  if (row.fate === 'same') return <Badge>Same</Badge>
  const valueOf = (name: string, value: unknown) =>
    typeof value !== 'string' ? '' : name === 'amount' ? `$${exactMoney(value)}` : value
  const fields = row.fields.map(({ name, before, after }) =>
    before === null ? valueOf(name, after) : `${valueOf(name, before)} → ${valueOf(name, after)}`,
  )
  return <>{fields.join(', ')}</>
}

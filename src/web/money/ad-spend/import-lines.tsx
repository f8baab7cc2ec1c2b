/** The lines of an imported spend file, with the result of each. */
import type { z } from 'zod'
import type { SpendLine } from '../../../money/ad-spend/api.ts'
import { count, exactMoney, NONE } from '../../ground/figures/figures.ts'
import { Original } from '../../ground/original.tsx'
import { Badge, type Tone } from '../../ground/ui/badge.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

type SpendLineRow = z.input<typeof SpendLine>

/** The most lines shown. Wrong ones come first, because they need correcting. */
const MOST_LINES = 500

const RESULTS: Record<SpendLineRow['fate'], { words: string; tone: Tone }> = {
  new: { words: 'New', tone: 'good' },
  replaces: { words: 'Replaces', tone: 'accent' },
  same: { words: 'Same as before', tone: 'plain' },
  added: { words: 'Added up', tone: 'good' },
  deletes: { words: 'Deletes', tone: 'warn' },
  nothing: { words: 'Nothing to delete', tone: 'plain' },
  wrong: { words: 'Wrong', tone: 'bad' },
}

export function SpendLines({ lines }: { lines: readonly SpendLineRow[] }) {
  const listed = lines
    .toSorted((one, other) => Number(other.fate === 'wrong') - Number(one.fate === 'wrong') || one.line - other.line)
    .slice(0, MOST_LINES)
  return (
    <>
      <Table caption="Lines of the file">
        <thead>
          <tr>
            <Head stay>Line</Head>
            <Head>Result</Head>
            <Head>Day</Head>
            <Head>Campaign</Head>
            <Head>sub1</Head>
            <Head numeric>Amount, $</Head>
            <Head numeric>Before, $</Head>
            <Head numeric>After, $</Head>
          </tr>
        </thead>
        <tbody>
          {listed.map(line => (
            <LineRow key={line.line} line={line} />
          ))}
        </tbody>
      </Table>
      {lines.length > listed.length && (
        <p className="mt-2 text-ink-faint">{count(lines.length - listed.length)} more lines are not shown.</p>
      )}
    </>
  )
}

const amountOf = (amount: string | null) => (amount === null ? NONE : exactMoney(amount))

function LineRow({ line }: { line: SpendLineRow }) {
  const { words, tone } = RESULTS[line.fate]
  const outcome = (
    <>
      <Badge tone={tone}>{words}</Badge>
      {line.added_to !== null && <span className="ml-2 text-ink-faint">to line {line.added_to}</span>}
    </>
  )
  if (line.error !== null)
    return (
      <Row>
        <RowHead stay>{line.line}</RowHead>
        <Cell colSpan={7} className="whitespace-normal!">
          <Badge tone={tone}>{words}</Badge> <span className="ml-1">{sentence(line.error)}</span>
        </Cell>
      </Row>
    )
  return (
    <Row>
      <RowHead stay>{line.line}</RowHead>
      <Cell>{outcome}</Cell>
      <Cell>{line.day}</Cell>
      <Cell className="max-w-60 truncate">{line.campaign_name}</Cell>
      <Cell faint={line.sub1 === ''} className="max-w-44 truncate">
        {line.sub1 === '' ? NONE : line.sub1}
      </Cell>
      <Cell numeric>
        {amountOf(line.amount)}
        {line.original !== null && <br />}
        <Original money={line.original} />
      </Cell>
      <Cell numeric faint={line.before === null}>
        {amountOf(line.before)}
      </Cell>
      <Cell numeric>{amountOf(line.becomes)}</Cell>
    </Row>
  )
}

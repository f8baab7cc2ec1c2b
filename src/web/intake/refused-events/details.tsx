/** One refused conversion: what is wrong, how to fix it, what was sent, and a button to run it again. */
import { useMutation } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import type { z } from 'zod'
import { DIAGNOSES } from '../../../contract/diagnoses.ts'
import { listRefusedEvents, type RefusedEvent, runRefusedEvent } from '../../../intake/refused-events/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { exactMoment, exactMoney } from '../../ground/figures/figures.ts'
import { zoneWords } from '../../ground/zone.ts'
import { Button } from '../../ground/ui/button.tsx'
import { CodeBlock, indented } from '../../ground/ui/copy.tsx'
import { DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'

export type RefusedRow = z.input<typeof RefusedEvent>

export const SURFACES: Record<RefusedRow['surface'], string> = {
  api: 'API key',
  dashboard: 'Dashboard',
  network: 'Network',
  page: 'Page',
}

/** Whether it is recorded but earns nothing, because its offer pays on other types. */
export const isWorthNothing = ({ diagnosis }: RefusedRow): boolean => diagnosis === 'paid_for_other_types'

type Payout = NonNullable<NonNullable<RefusedRow['difference']>['payout']>

/** "25.00 EUR, $27.50", or only one of the two. */
function sentIn({ sent, original }: Payout): string {
  const dollars = sent === null ? undefined : `$${exactMoney(sent)}`
  const foreign = original && `${exactMoney(original.amount)} ${original.currency}`
  return [foreign, dollars].filter(text => text !== undefined).join(', ') || 'None'
}

/** The fields that differ, as recorded and as sent. */
function Difference({ difference: { payout, status } }: { difference: NonNullable<RefusedRow['difference']> }) {
  const lines = [
    payout === null ? [] : [['Payout', `$${exactMoney(payout.recorded)}`, sentIn(payout)]],
    status === null ? [] : [['Status', status.recorded ?? 'None', status.sent]],
  ].flat()
  return (
    <Table caption="What differs">
      <thead>
        <tr>
          <Head stay>Field</Head>
          <Head>Recorded</Head>
          <Head>Sent later</Head>
        </tr>
      </thead>
      <tbody>
        {lines.map(([field = '', recorded, sent]) => (
          <Row key={field}>
            <RowHead stay>{field}</RowHead>
            <Cell className="max-w-60 truncate">{recorded}</Cell>
            <Cell className="max-w-60 truncate font-medium">{sent}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

type DetailsProps = { row: RefusedRow; onRan: (row: RefusedRow) => void; onClose: () => void }

export function Details({ row, onRan, onClose }: DetailsProps) {
  const refresh = useRefresh()
  const { role } = useActive()
  const run = useMutation({
    mutationFn: () => call(runRefusedEvent, { params: { id: row.id } }),
    onSuccess: async ran => {
      await refresh(listRefusedEvents)
      onRan(ran)
      if (ran.state === 'recorded') notify('Recorded')
      else notify('Still refused', ran.error)
    },
  })
  const differs = row.difference === null ? undefined : 'The conversion is already recorded, with other values.'
  const cannot =
    row.surface === 'page'
      ? 'What a page reported is never run again.'
      : row.is_whole
        ? undefined
        : 'The request is not valid JSON or was too large to keep whole.'
  const done = row.state === 'recorded' ? 'Already recorded.' : undefined
  return (
    <>
      <DialogBody>
        <Note kind={row.state === 'recorded' && !isWorthNothing(row) ? 'plain' : 'warning'}>
          {row.state === 'recorded' && row.runs > 0 && <strong>Run again and recorded. </strong>}
          {row.state === 'recorded' && !isWorthNothing(row) ? (
            'It was refused when it arrived.'
          ) : (
            <>
              <strong>{row.error}. </strong>
              {DIAGNOSES[row.diagnosis].advice}
            </>
          )}
        </Note>
        {row.difference !== null && <Difference difference={row.difference} />}
        {row.body !== null && <CodeBlock label="What was sent" text={indented(row.body)} />}
        <p className="text-sm text-ink-faint">
          {SURFACES[row.surface]}, {exactMoment(row.received_at)} {zoneWords()}
          {row.runs > 0 && `, run again ${row.runs === 1 ? 'once' : `${row.runs} times`}`}
        </p>
        <RefusalNote refused={run.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Close</Button>
        <Button
          look="primary"
          icon={RotateCcw}
          pending={run.isPending}
          reason={reasonAgainst(runRefusedEvent, role) ?? done ?? differs ?? cannot}
          onClick={() => run.mutate()}
        >
          Run again
        </Button>
      </DialogFoot>
    </>
  )
}

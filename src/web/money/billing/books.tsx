/** Recounts the workspace's books: each stored running figure beside the figure counted from its rows. */
import { useMutation } from '@tanstack/react-query'
import { Scale } from 'lucide-react'
import type { z } from 'zod'
import { reconcileBooks } from '../../../reading/audit/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Section } from '../../ground/ui/page.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

type Reconciliation = z.input<(typeof reconcileBooks)['reply']>

export function BooksSection() {
  const { role } = useActive()
  const counting = useMutation({ mutationFn: () => call(reconcileBooks) })
  return (
    <Section
      title="Books"
      words="Recounts everything: the people charged from the conversions, the balance from the ledger, the report from the clicks."
      aside={
        <Button
          icon={Scale}
          pending={counting.isPending}
          reason={reasonAgainst(reconcileBooks, role)}
          onClick={() => counting.mutate()}
        >
          Recount
        </Button>
      }
    >
      <RefusalNote refused={counting.error} />
      <div aria-live="polite">
        {counting.data !== undefined && <ReconciliationResult reconciliation={counting.data} />}
      </div>
    </Section>
  )
}

function ReconciliationResult({
  reconciliation: { at, holds, clicks_from, figures, findings },
}: {
  reconciliation: Reconciliation
}) {
  return (
    <div className="flex flex-col gap-3">
      <Note kind={holds ? 'plain' : 'warning'}>
        <strong>{holds ? 'The books are right.' : 'The books are wrong.'}</strong> Counted {moment(at)}.
        {clicks_from !== null &&
          ` Clicks before ${clicks_from} have been deleted, so the report of that time was not checked.`}
      </Note>
      <Table caption="Recounted books">
        <thead>
          <tr>
            <Head stay>Figure</Head>
            <Head numeric>Stored</Head>
            <Head numeric>Counted</Head>
            <Head unseen>Result</Head>
          </tr>
        </thead>
        <tbody>
          {figures.map(({ name, kept, counted }) => (
            <Row key={name}>
              <RowHead stay>{name}</RowHead>
              <Cell numeric>{kept}</Cell>
              <Cell numeric>{counted}</Cell>
              <Cell>
                <Badge tone={kept === counted ? 'good' : 'bad'}>{kept === counted ? 'Same' : 'Differs'}</Badge>
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      {findings.length > 0 && (
        <ul className="flex list-disc flex-col gap-1 pl-5">
          {findings.map(({ check, wrong }) => (
            <li key={`${check} ${wrong}`}>
              Not true: {check}. <code className="font-mono text-sm break-all">{wrong}</code>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

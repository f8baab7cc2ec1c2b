/** Counting the workspace's books again: what is kept as a running figure, beside what the rows come to. */
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

export function Books() {
  const { role } = useActive()
  const counting = useMutation({ mutationFn: () => call(reconcileBooks) })
  return (
    <Section
      title="Books"
      words="Counts everything again: persons charged against the conversions, the ledger against the balance, the report against the clicks."
      aside={
        <Button
          icon={Scale}
          pending={counting.isPending}
          reason={reasonAgainst(reconcileBooks, role)}
          onClick={() => counting.mutate()}
        >
          Count again
        </Button>
      }
    >
      <RefusalNote refused={counting.error} />
      <div aria-live="polite">{counting.data !== undefined && <Outcome found={counting.data} />}</div>
    </Section>
  )
}

function Outcome({ found: { at, holds, clicks_from, figures, findings } }: { found: Reconciliation }) {
  return (
    <div className="flex flex-col gap-3">
      <Note kind={holds ? 'plain' : 'warning'}>
        <strong>{holds ? 'The books hold.' : 'The books do not hold.'}</strong> Counted {moment(at)}.
        {clicks_from !== null &&
          ` Clicks made before ${clicks_from} are no longer kept: what the report says of that time was left out.`}
      </Note>
      <Table caption="Books counted again">
        <thead>
          <tr>
            <Head stay>Figure</Head>
            <Head numeric>Kept</Head>
            <Head numeric>Counted</Head>
            <Head unseen>Outcome</Head>
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
              Not so: {check}. <code className="font-mono text-sm break-all">{wrong}</code>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

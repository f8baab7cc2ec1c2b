/** Billing: the balance, what a person costs, and every entry that made the balance what it is. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { type LedgerEntry, readBilling, setHolding, topUpBalance } from '../../billing/api.ts'
import { ask, call } from '../call.ts'
import { count, exactMoment, exactMoney, money, NONE } from '../figures.ts'
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/field.tsx'
import { Asked, PageHeader, Section } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { Note, RefusalNote } from '../ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { TopUpDialog } from './top-up-dialog.tsx'

const route = getRouteApi('/inside/billing')

export function BillingPage() {
  const { cursor } = route.useSearch()
  const navigate = useNavigate({ from: '/billing' })
  const { role } = useActive()
  const [adding, setAdding] = useState(false)
  const billing = useQuery({ ...ask(readBilling, { query: { cursor } }), placeholderData: keepPreviousData })
  return (
    <>
      <PageHeader title="Billing" words="One charge per person, for ever, whichever system reports them first.">
        <Button look="primary" icon={Plus} reason={reasonAgainst(topUpBalance, role)} onClick={() => setAdding(true)}>
          Top up
        </Button>
      </PageHeader>
      <Asked query={billing}>
        {({ balance, price_per_person, persons_charged, hold_when_empty, data, next_cursor }) => (
          <>
            {balance.startsWith('-') && (
              <div className="mb-4">
                <Note kind="warning">
                  <strong>The balance is below zero.</strong> Nothing is refused or lost
                  {hold_when_empty
                    ? ', but deliveries wait until a top-up brings it back.'
                    : '; conversions and deliveries go on.'}
                </Note>
              </div>
            )}
            <dl className="mb-6 grid gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3">
              <Figure name="Balance" value={signed(money(balance))} bad={balance.startsWith('-')} />
              <Figure name="Price per person" value={`$${exactMoney(price_per_person)}`} />
              <Figure name="Persons charged" value={count(persons_charged)} />
            </dl>
            <Holding holds={hold_when_empty} />
            <Section title="Ledger" words="Entries are only ever added; their sum is the balance.">
              {data.length === 0 ? <p className="text-ink-faint">There is no entry yet.</p> : <Ledger entries={data} />}
              <Pager cursor={cursor} next={next_cursor} onGo={to => void navigate({ search: { cursor: to } })} />
            </Section>
          </>
        )}
      </Asked>
      <TopUpDialog open={adding} onClose={() => setAdding(false)} />
    </>
  )
}

const signed = (text: string) => (text.startsWith('-') ? `−$${text.slice(1)}` : `$${text}`)

function Figure({ name, value, bad }: { name: string; value: string; bad?: boolean }) {
  return (
    <div className="bg-surface px-4 py-3">
      <dt className="text-sm text-ink-soft">{name}</dt>
      <dd className={bad ? 'text-xl font-semibold text-bad' : 'text-xl font-semibold'}>{value}</dd>
    </div>
  )
}

function Holding({ holds }: { holds: boolean }) {
  const queries = useQueryClient()
  const { role } = useActive()
  const set = useMutation({
    mutationFn: (hold_when_empty: boolean) => call(setHolding, { body: { hold_when_empty } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [readBilling.route] }),
  })
  return (
    <div className="mb-8 flex flex-col gap-2">
      <Checkbox
        label="Hold deliveries while the balance is below zero"
        words="Postbacks and ad-account events wait, and leave in order after a top-up. Conversions are recorded in any case."
        checked={set.isPending ? set.variables : holds}
        reason={reasonAgainst(setHolding, role)}
        onChange={event => set.mutate(event.target.checked)}
      />
      <RefusalNote refused={set.error} />
    </div>
  )
}

const KINDS = { charge: 'Charge', top_up: 'Top-up', adjustment: 'Adjustment' } as const

function Ledger({ entries }: { entries: readonly z.input<typeof LedgerEntry>[] }) {
  return (
    <Table caption="Ledger">
      <thead>
        <tr>
          <Head stay>Time (UTC)</Head>
          <Head>Kind</Head>
          <Head numeric>Amount</Head>
          <Head>Note</Head>
          <Head>Event</Head>
        </tr>
      </thead>
      <tbody>
        {entries.map(entry => (
          <Row key={entry.id}>
            <RowHead stay className="font-normal!">
              {exactMoment(entry.created_at)}
            </RowHead>
            <Cell>
              <Badge tone={entry.kind === 'charge' ? 'plain' : 'accent'}>{KINDS[entry.kind]}</Badge>
            </Cell>
            <Cell numeric>{signed(exactMoney(entry.amount))}</Cell>
            <Cell className="max-w-80 truncate" faint={entry.note === null}>
              {entry.note ?? NONE}
            </Cell>
            <Cell faint={entry.event_id === null} className="font-mono text-sm">
              {entry.event_id ?? NONE}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

/** Billing: the balance, the price per person, and the ledger entries that make up the balance. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { PencilLine, Plus } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { adjustBalance, LedgerEntry, ReadEntry, readBilling, topUpBalance } from '../../../money/billing/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import type { BillingSearch } from '../../ground/lists.ts'
import { count, exactMoment, exactMoney, money, NONE } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { zoneWords } from '../../ground/zone.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { type ListAddress, useListAddress } from '../../ground/ui/list.tsx'
import { Loaded, PageHeader, Section } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { BillingSettings, PriceSetting } from './billing-settings.tsx'
import { BooksSection } from './books.tsx'
import { AdjustDialog, TopUpDialog } from './entry-dialogs.tsx'

const route = getRouteApi('/inside/billing')

export function BillingPage() {
  const address = useListAddress(route.useSearch())
  const billing = useQuery({
    ...ask(readBilling, { query: address.search }),
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={billing} title="Billing">
      {found =>
        Number(found.price_per_person) === 0 && found.deliveries_held === 0 ? (
          <>
            <PageHeader title="Billing" words="The price per person is 0, so nothing is charged." />
            <PriceSetting price={found.price_per_person} />
          </>
        ) : (
          <ChargedBilling billing={found} address={address} />
        )
      }
    </Loaded>
  )
}

type ChargedProps = {
  billing: z.input<(typeof readBilling)['reply']>
  address: ListAddress<z.output<typeof BillingSearch>>
}

function ChargedBilling({ billing, address: { search, narrow, go } }: ChargedProps) {
  const { role } = useActive()
  const [entryKind, setEntryKind] = useState<'top-up' | 'adjustment'>()
  return (
    <>
      <PageHeader title="Billing" words="Each person is charged once, whichever system reports them first.">
        <Button
          icon={PencilLine}
          reason={reasonAgainst(adjustBalance, role)}
          onClick={() => setEntryKind('adjustment')}
        >
          Adjust
        </Button>
        <Button
          look="primary"
          icon={Plus}
          reason={reasonAgainst(topUpBalance, role)}
          onClick={() => setEntryKind('top-up')}
        >
          Top up
        </Button>
      </PageHeader>
      <dl className="mb-6 grid gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3">
        <Figure name="Balance" value={signed(money(billing.balance))} bad={billing.balance.startsWith('-')} />
        <Figure name="Price per person" value={`$${exactMoney(billing.price_per_person)}`} />
        <Figure name="People charged" value={count(billing.persons_charged)} />
      </dl>
      <Section
        title="Ledger"
        words="Entries are never changed. Their sum is the balance."
        aside={
          <Choice
            label="Kind of entry"
            any="All entries"
            options={LedgerEntry.shape.kind.options}
            words={kind => `${KINDS[kind]}s`}
            value={search.kind}
            onChange={kind => narrow({ kind })}
          />
        }
      >
        {billing.data.length === 0 ? (
          <p className="text-ink-faint">
            {search.kind === undefined ? 'No entries yet.' : 'No entries of this kind yet.'}
          </p>
        ) : (
          <Ledger entries={billing.data} />
        )}
        <Pager cursor={search.cursor} next={billing.next_cursor} onGo={go} />
      </Section>
      <BooksSection />
      <BillingSettings billing={billing} />
      <TopUpDialog open={entryKind === 'top-up'} onClose={() => setEntryKind(undefined)} />
      <AdjustDialog open={entryKind === 'adjustment'} onClose={() => setEntryKind(undefined)} />
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

const KINDS = { charge: 'Charge', top_up: 'Top-up', adjustment: 'Adjustment' } as const

function Ledger({ entries }: { entries: readonly z.input<typeof ReadEntry>[] }) {
  return (
    <Table caption="Ledger">
      <thead>
        <tr>
          <Head stay>{`Time (${zoneWords()})`}</Head>
          <Head>Kind</Head>
          <Head numeric>Amount</Head>
          <Head>Note</Head>
          <Head>Conversion</Head>
          <Head>Click id</Head>
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
            <Cell faint={entry.event_type === null} title={entry.event_id ?? undefined}>
              {entry.event_type === null ? NONE : inWords(entry.event_type)}
            </Cell>
            <Cell faint={entry.click_id === null} className="font-mono text-sm">
              {entry.click_id === null ? (
                NONE
              ) : (
                <Link to="/clicks/$id" params={{ id: entry.click_id }} className="text-accent hover:underline">
                  {entry.click_id}
                </Link>
              )}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

/** Settings, rates: what currencies are worth on a day, whose word that is, and the workspace's own rates. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ArrowLeftRight, Plus } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { listRates, type OwnRate, setOwnRate } from '../../../money/rates/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import { ago, day, moment, NONE } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { SOURCE_NAMES } from '../../ground/original.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { Asked, EmptyState, PageHeader, Section } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { OwnRateDialog } from './own-rate-dialog.tsx'

type Rates = z.input<(typeof listRates)['reply']>

export function RatesPage() {
  const { role } = useActive()
  const now = useNow()
  const today = new Date(now).toISOString().slice(0, 10)
  const [chosen, setChosen] = useState<string>()
  const [currency, setCurrency] = useState<string>()
  const on = chosen ?? today
  const rates = useQuery({ ...ask(listRates, { query: { day: on } }), placeholderData: keepPreviousData })
  return (
    <>
      <PageHeader
        title="Rates"
        words="The books are in US dollars. What comes in another currency is turned into them once, when it is booked, by the latest rate of a day before its own."
      >
        <TextField
          label="Day (UTC)"
          hideLabel
          type="date"
          value={on}
          min="2000-01-01"
          onChange={({ target }) => setChosen(target.value === '' ? undefined : target.value)}
        />
        <Button look="primary" icon={Plus} reason={reasonAgainst(setOwnRate, role)} onClick={() => setCurrency('')}>
          Set own rate
        </Button>
      </PageHeader>
      <Asked query={rates}>
        {found => (
          <>
            <Sources sources={found.sources} now={now} />
            <DayRates rates={found} onSet={setCurrency} />
            <OwnRates own={found.own} />
          </>
        )}
      </Asked>
      <OwnRateDialog currency={currency} today={today} onClose={() => setCurrency(undefined)} />
    </>
  )
}

function Sources({ sources, now }: { sources: Rates['sources']; now: number }) {
  if (sources.length === 0)
    return (
      <p className="mb-4 text-ink-soft">
        No source is asked (FX_SOURCES=off): set own rates, or have the operator import a file.
      </p>
    )
  if (sources.every(({ asked }) => !asked))
    return (
      <p className="mb-4 text-ink-soft">
        {sources.map(({ source }) => SOURCE_NAMES[source]).join(' and ')} are asked once something here is in another
        currency.
      </p>
    )
  const failed = sources.filter(({ error }) => error !== null)
  return (
    <div className="mb-4 flex flex-col gap-3">
      <p className="text-ink-soft">
        {sources
          .map(({ source, fetched_at, newest_day }) => {
            const newest = newest_day === null ? '' : `, newest of ${day(newest_day)}`
            return `${SOURCE_NAMES[source]}: ${fetched_at === null ? 'not read yet' : `read ${ago(fetched_at, now)}${newest}`}`
          })
          .join('. ')}
        .
      </p>
      {failed.map(({ source, error }) => (
        <Note key={source} kind="warning">
          {SOURCE_NAMES[source]} gave no rates the last time: {error}. It is asked again; rates are good for seven days.
        </Note>
      ))}
    </div>
  )
}

function DayRates({ rates: { rates, day: on }, onSet }: { rates: Rates; onSet: (currency: string) => void }) {
  const { role } = useActive()
  if (rates.length === 0)
    return (
      <EmptyState
        icon={ArrowLeftRight}
        title={`No rates for ${day(on)}`}
        words="What comes in another currency on that day is refused and kept, never booked one to one."
      />
    )
  return (
    <Section title={`Rates of ${day(on)}`} words="What is received on that UTC day is booked by these.">
      <Table caption="Rates of the day">
        <thead>
          <tr>
            <Head stay>Currency</Head>
            <Head numeric>$ for one</Head>
            <Head>Source</Head>
            <Head>Of the day</Head>
            <Head>
              <span className="sr-only">Own rate</span>
            </Head>
          </tr>
        </thead>
        <tbody>
          {rates.map(({ currency, usd_per_unit, rate_source, rate_day }) => (
            <Row key={currency}>
              <RowHead stay>{currency}</RowHead>
              <Cell numeric>{usd_per_unit}</Cell>
              <Cell>
                {rate_source === 'own' ? <Badge tone="accent">{SOURCE_NAMES.own}</Badge> : SOURCE_NAMES[rate_source]}
              </Cell>
              <Cell>{rate_source === 'own' ? `from ${day(rate_day)}` : day(rate_day)}</Cell>
              <Cell className="text-right">
                <Button
                  size="sm"
                  look="quiet"
                  reason={reasonAgainst(setOwnRate, role)}
                  aria-label={`Set an own rate of ${currency}`}
                  onClick={() => onSet(currency)}
                >
                  Own rate
                </Button>
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
    </Section>
  )
}

function OwnRates({ own }: { own: readonly z.input<typeof OwnRate>[] }) {
  if (own.length === 0) return null
  return (
    <Section
      title="Own rates"
      words="Each holds from its day until the one of a later day, for what is booked after it was saved. None is overwritten."
    >
      <Table caption="Own rates">
        <thead>
          <tr>
            <Head stay>Currency</Head>
            <Head>From</Head>
            <Head numeric>$ for one</Head>
            <Head>Note</Head>
            <Head>Saved by</Head>
            <Head>Saved</Head>
          </tr>
        </thead>
        <tbody>
          {own.map(({ id, currency, from_day, usd_per_unit, note, actor, created_at }) => (
            <Row key={id}>
              <RowHead stay>{currency}</RowHead>
              <Cell>{day(from_day)}</Cell>
              <Cell numeric={usd_per_unit !== null} faint={usd_per_unit === null}>
                {usd_per_unit ?? 'As the sources say'}
              </Cell>
              <Cell faint={note === null} className="max-w-72 truncate">
                {note ?? NONE}
              </Cell>
              <Cell>{actor.name ?? NONE}</Cell>
              <Cell title={moment(created_at)}>{ago(created_at)}</Cell>
            </Row>
          ))}
        </tbody>
      </Table>
    </Section>
  )
}

/** Settings, rates: the exchange rates of a day with their sources, and the workspace's own rates. */
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
import { Loaded, EmptyState, PageHeader, Section } from '../../ground/ui/page.tsx'
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
        words="Reports and billing are in US dollars. Other currencies are converted once, when recorded, at the latest rate of an earlier day."
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
      <Loaded query={rates}>
        {found => (
          <>
            <Sources sources={found.sources} now={now} />
            <DayRates rates={found} onSet={setCurrency} />
            <OwnRates own={found.own} />
          </>
        )}
      </Loaded>
      <OwnRateDialog currency={currency} today={today} onClose={() => setCurrency(undefined)} />
    </>
  )
}

function Sources({ sources, now }: { sources: Rates['sources']; now: number }) {
  if (sources.length === 0)
    return (
      <p className="mb-4 text-ink-soft">
        Automatic rates are off (FX_SOURCES=off). Set own rates, or ask the operator to import a file.
      </p>
    )
  if (sources.every(({ asked }) => !asked))
    return (
      <p className="mb-4 text-ink-soft">
        {sources.map(({ source }) => SOURCE_NAMES[source]).join(' and ')} rates are fetched once you use another
        currency than US dollars.
      </p>
    )
  const failed = sources.filter(({ error }) => error !== null)
  return (
    <div className="mb-4 flex flex-col gap-3">
      <p className="text-ink-soft">
        {sources
          .map(({ source, fetched_at, newest_day }) => {
            const newest = newest_day === null ? '' : `, latest rates of ${day(newest_day)}`
            return `${SOURCE_NAMES[source]}: ${fetched_at === null ? 'not fetched yet' : `fetched ${ago(fetched_at, now)}${newest}`}`
          })
          .join('. ')}
        .
      </p>
      {failed.map(({ source, error }) => (
        <Note key={source} kind="warning">
          {SOURCE_NAMES[source]} rates could not be fetched: {error}. Sluice retries. A rate is used for up to seven
          days.
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
        words="Amounts in another currency on that day are refused, not counted as dollars."
      />
    )
  return (
    <Section title={`Rates of ${day(on)}`} words="Used for amounts received on that UTC day.">
      <Table caption="Rates of the day">
        <thead>
          <tr>
            <Head stay>Currency</Head>
            <Head numeric>USD per unit</Head>
            <Head>Source</Head>
            <Head>Rate date</Head>
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
      words="Each applies from its date until the next own rate, to amounts recorded after it was saved. Earlier ones are kept."
    >
      <Table caption="Own rates">
        <thead>
          <tr>
            <Head stay>Currency</Head>
            <Head>From</Head>
            <Head numeric>USD per unit</Head>
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
                {usd_per_unit ?? 'Automatic'}
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

/** Reconciling with a network: choose its file, see the heaps into which its lines fall, act on one, and put that back. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { FileUp } from 'lucide-react'
import { type ChangeEvent, useState } from 'react'
import type { z } from 'zod'
import { readNetwork } from '../../../intake/networks/api.ts'
import { type Column, listReconciliations, reconcileFile } from '../../../intake/reconciliations/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count, exactMoment, exactMoney } from '../../ground/figures/figures.ts'
import { CurrencyField } from '../../ground/original.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { EmptyState, Loaded, PageHeader, Section } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { zoneWords } from '../../ground/zone.ts'
import { ZONE_NAMES } from '../../ground/zone-names.ts'
import { ComparedFile } from './compared-file.tsx'
import { COLUMN_WORDS, HEAP_WORDS } from './words.ts'

type Choices = z.input<(typeof reconcileFile)['query']>

const route = getRouteApi('/inside/networks/$id/reconcile')

export function ReconcilePage() {
  const { id } = route.useParams()
  const { file } = route.useSearch()
  const network = useQuery(ask(readNetwork, { params: { id } }))
  return (
    <Loaded query={network} title="Reconcile">
      {({ name }) => (
        <>
          {file === undefined ? (
            <BackLink to="/networks/$id" params={{ id }}>
              {name}
            </BackLink>
          ) : (
            <BackLink to="/networks/$id/reconcile" params={{ id }}>
              Files of {name}
            </BackLink>
          )}
          <PageHeader
            title={`Reconcile with ${name}`}
            words="Compare a CSV file of the network with the conversions recorded here. Nothing changes until you act on a heap."
          />
          {file === undefined ? <Files network={id} /> : <ComparedFile key={file} id={file} network={name} />}
        </>
      )}
    </Loaded>
  )
}

function Files({ network }: { network: string }) {
  const { cursor } = route.useSearch()
  const navigate = useNavigate()
  const files = useQuery({
    ...ask(listReconciliations, { params: { id: network }, query: { cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <FileSection network={network} />
      <Section title="Compared files" words="Kept for 90 days. The counts are those of the newest comparison or act.">
        <Loaded query={files} what="compared files">
          {({ data, next_cursor }) => (
            <>
              {data.length === 0 ? (
                <EmptyState
                  icon={FileUp}
                  title="No file was compared yet"
                  words="Choose the CSV file of a month or a week above."
                />
              ) : (
                <FileTable files={data} />
              )}
              <Pager
                cursor={cursor}
                next={next_cursor}
                onGo={next =>
                  void navigate({ to: '/networks/$id/reconcile', params: { id: network }, search: { cursor: next } })
                }
              />
            </>
          )}
        </Loaded>
      </Section>
    </>
  )
}

type FileRow = z.input<(typeof listReconciliations)['reply']>['data'][number]

/** The heaps that a list of files shows. */
const COUNTED = ['same', 'missing_here', 'missing_there', 'other_amount', 'other_status'] as const

function FileTable({ files }: { files: readonly FileRow[] }) {
  return (
    <Table caption="Compared files">
      <thead>
        <tr>
          <Head stay>{`Compared (${zoneWords()})`}</Head>
          <Head>Times of the file</Head>
          <Head numeric>Lines</Head>
          {COUNTED.map(heap => (
            <Head key={heap} numeric>
              {HEAP_WORDS[heap].name}
            </Head>
          ))}
          <Head numeric>Here</Head>
          <Head numeric>There</Head>
        </tr>
      </thead>
      <tbody>
        {files.map(({ id, network_id, created_at, from, to, lines, heaps, totals }) => (
          <Row key={id}>
            <RowHead stay>
              <Link
                to="/networks/$id/reconcile"
                params={{ id: network_id }}
                search={{ file: id }}
                className="text-accent hover:underline"
              >
                {exactMoment(created_at)}
              </Link>
            </RowHead>
            <Cell faint={from === null}>
              {from === null || to === null ? 'None' : `${exactMoment(from)} to ${exactMoment(to)}`}
            </Cell>
            <Cell numeric>{count(lines)}</Cell>
            {COUNTED.map(heap => (
              <Cell key={heap} numeric faint={heaps[heap] === 0}>
                {count(heaps[heap])}
              </Cell>
            ))}
            <Cell numeric>${exactMoney(totals.here)}</Cell>
            <Cell numeric>${exactMoney(totals.there)}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function FileSection({ network }: { network: string }) {
  const { role } = useActive()
  const navigate = useNavigate()
  const refresh = useRefresh()
  const [choices, setChoices] = useState<Choices>({})
  const [columns, setColumns] = useState<Partial<Record<Column, string>>>({})
  const compare = useMutation({
    mutationFn: (file: File) =>
      call(reconcileFile, {
        params: { id: network },
        query: { ...choices, ...(Object.keys(columns).length > 0 && { columns: JSON.stringify(columns) }) },
        body: new Blob([file], { type: 'text/csv' }),
      }),
    onSuccess: async ({ id }) => {
      await refresh(listReconciliations)
      await navigate({ to: '/networks/$id/reconcile', params: { id: network }, search: { file: id } })
    },
  })
  const reason = reasonAgainst(reconcileFile, role)
  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? []
    if (file !== undefined) compare.mutate(file)
    // Otherwise the browser would not report the same file when it is chosen again after a correction.
    event.target.value = ''
  }
  return (
    <Section
      title="File"
      words="It needs a line of titles with a click id or a transaction id. Amount, currency, status and date are found by their usual titles."
    >
      <div className="grid items-start gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <TextField
          label="CSV file"
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          disabled={reason !== undefined || compare.isPending}
          hint={reason ?? (compare.isPending ? 'Comparing…' : 'UTF-8, up to 32 MiB.')}
          onChange={choose}
        />
        <CurrencyField
          label="Currency"
          placeholder="As the network"
          hint="Of lines that name none."
          onChange={({ target }) => {
            const code = target.value.trim().toUpperCase()
            setChoices({ ...choices, currency: code === '' ? undefined : code })
          }}
        />
        <SelectField
          label="Time zone of the file"
          value={choices.time_zone ?? ''}
          onChange={({ target }) => setChoices({ ...choices, time_zone: target.value || undefined })}
        >
          <option value="">UTC, or recognized</option>
          {ZONE_NAMES.map(zone => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Dates with slashes"
          value={choices.date_order ?? ''}
          onChange={({ target: { value } }) =>
            setChoices({
              ...choices,
              date_order: value === 'month_first' || value === 'day_first' ? value : undefined,
            })
          }
        >
          <option value="">Recognized, or refused</option>
          <option value="month_first">Month first</option>
          <option value="day_first">Day first</option>
        </SelectField>
      </div>
      <details className="mt-4">
        <summary className="cursor-pointer text-accent">Titles of the columns</summary>
        <div className="mt-2 grid items-start gap-4 sm:grid-cols-3 lg:grid-cols-6">
          {COLUMN_WORDS.map(([column, label]) => (
            <TextField
              key={column}
              label={label}
              placeholder="Usual titles"
              onChange={({ target }) => {
                const { [column]: _, ...others } = columns
                setColumns(target.value.trim() === '' ? others : { ...others, [column]: target.value.trim() })
              }}
            />
          ))}
        </div>
      </details>
      <div aria-live="polite">
        <RefusalNote refused={compare.error} className="mt-3" />
      </div>
    </Section>
  )
}

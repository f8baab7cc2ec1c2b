/** The left-out values of a campaign: the list, with what adds to it, takes from it and copies it. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import {
  importLeftOut,
  LEFT_OUT_FIELDS,
  leaveOut,
  type LeftOutValue,
  letIn,
  listLeftOut,
} from '../../../traffic/left-out/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Choice } from '../../ground/ui/choice.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Loaded, Setting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { AddDialog } from './add-dialog.tsx'
import { CopyMenu } from './copy-menu.tsx'
import { fieldWords, type LeftOutField } from './fields.tsx'
import { LeftOutImport } from './import-dialog.tsx'

type ValueRow = z.input<typeof LeftOutValue>

const ROWS = 50

export function LeftOutSetting({ id }: { id: string }) {
  const { role } = useActive()
  const [field, setField] = useState<LeftOutField>()
  const [q, setQ] = useState<string>()
  const [dialog, setDialog] = useState<'add' | 'import'>()
  const close = () => setDialog(undefined)
  const query = { limit: ROWS, ...(field === undefined ? {} : { field }), ...(q === undefined ? {} : { q }) }
  const values = useInfiniteQuery({
    queryKey: [listLeftOut.route, id, query],
    queryFn: ({ pageParam }) =>
      call(listLeftOut, {
        params: { id },
        query: { ...query, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: last => last.next_cursor ?? undefined,
  })
  const rows = values.data?.pages.flatMap(({ data }) => data)
  return (
    <Setting
      title="Left-out values"
      words="Visitors with these values go to the fallback or to another offer. Their clicks still cost: exclude the values at the source too."
      wide
    >
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <Choice
            label="Field"
            any="All fields"
            options={LEFT_OUT_FIELDS}
            words={fieldWords}
            value={field}
            onChange={setField}
          />
          <SearchField value={q} onSeek={setQ} label="Search left-out values" />
          <span className="flex-1" />
          <Link to="/history" search={{ kind: 'left_out', id }} className="text-accent hover:underline">
            History
          </Link>
          <CopyMenu id={id} field={field ?? 'sub1'} />
          <Button size="sm" reason={reasonAgainst(importLeftOut, role)} onClick={() => setDialog('import')}>
            Import
          </Button>
          <Button size="sm" reason={reasonAgainst(leaveOut, role)} onClick={() => setDialog('add')}>
            Leave values out
          </Button>
        </div>
        <Loaded query={{ ...values, data: rows }} what="left-out values">
          {found =>
            found.length === 0 ? (
              <p className="text-ink-soft">
                {field === undefined && q === undefined ? 'No value is left out.' : 'No left-out value is like this.'}
              </p>
            ) : (
              <Values id={id} rows={found} />
            )
          }
        </Loaded>
        <div className="flex flex-wrap gap-2 empty:hidden">
          {values.hasNextPage && (
            <Button size="sm" pending={values.isFetchingNextPage} onClick={() => void values.fetchNextPage()}>
              Show more
            </Button>
          )}
          {field !== undefined && q === undefined && rows !== undefined && rows.length > 0 && (
            <LetAllIn id={id} field={field} />
          )}
        </div>
      </div>
      <AddDialog id={id} open={dialog === 'add'} onClose={close} />
      <LeftOutImport id={id} open={dialog === 'import'} onClose={close} />
    </Setting>
  )
}

function Values({ id, rows }: { id: string; rows: readonly ValueRow[] }) {
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } })).data?.data
  return (
    <Table caption="Left-out values" className="max-h-96">
      <thead>
        <tr>
          <Head stay>Value</Head>
          <Head>Field</Head>
          <Head>Go to</Head>
          <Head>Until</Head>
          <Head>Note</Head>
          <Head>Since</Head>
          <ActionHead />
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={row.id}>
            <RowHead stay className="max-w-64 truncate" title={row.value}>
              {row.value}
            </RowHead>
            <Cell>{fieldWords(row.field)}</Cell>
            <Cell className="max-w-48 truncate">{goalOf(row, offers)}</Cell>
            <Cell faint={row.until === null}>{untilOf(row)}</Cell>
            <Cell className="max-w-48 truncate" title={row.note ?? undefined}>
              {row.note}
            </Cell>
            <Cell>{moment(row.created_at)}</Cell>
            <ActionCell>
              <LetInButton id={id} row={row} />
            </ActionCell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function goalOf({ leads_to }: ValueRow, offers: readonly { id: string; name: string }[] | undefined): string {
  if (leads_to.type === 'fallback') return 'Fallback'
  return offers?.find(({ id }) => id === leads_to.offer_id)?.name ?? leads_to.offer_id
}

function untilOf({ until }: ValueRow): string {
  if (until === null) return 'For good'
  return Date.parse(until) <= Date.now() ? `Let in since ${moment(until)}` : moment(until)
}

function LetInButton({ id, row: { field, value } }: { id: string; row: ValueRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [isPending, setPending] = useState(false)
  const remove = async () => {
    setPending(true)
    try {
      await call(letIn, { params: { id }, query: { field, value } })
      await refresh(listLeftOut)
      notify(`${value} is let in again`, 'Applies from the next click.')
    } catch (error) {
      notify('It is still left out', error instanceof Error ? error.message : undefined)
    }
    setPending(false)
  }
  return (
    <Button
      size="sm"
      look="quiet"
      aria-label={`Let in ${value}`}
      pending={isPending}
      reason={reasonAgainst(letIn, role)}
      onClick={() => void remove()}
    >
      Let in
    </Button>
  )
}

function LetAllIn({ id, field }: { id: string; field: LeftOutField }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const name = fieldWords(field)
  return (
    <Button
      size="sm"
      look="danger"
      reason={reasonAgainst(letIn, role)}
      onClick={() =>
        confirm({
          title: `Let all values of ${name} in again?`,
          words: 'Their visitors go the usual way from the next click. The history can put this back.',
          action: 'Let all in',
          look: 'danger',
          deed: () => call(letIn, { params: { id }, query: { field } }),
          refresh: [listLeftOut],
          news: `No value of ${name} is left out`,
        })
      }
    >
      {`Let all of ${name} in`}
    </Button>
  )
}

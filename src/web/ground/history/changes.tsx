/** Changes of objects: who made them, what differs, and putting them back. */
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { type HistoryRow, listHistory, undoChange } from '../../../people/history/api.ts'
import { call } from '../call.ts'
import { exactMoment } from '../figures/figures.ts'
import { Button } from '../ui/button.tsx'
import { useConfirm } from '../ui/confirm.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { zoneWords } from '../zone.ts'
import { actorInWords, kindInWords, valueInWords } from './words.ts'

type ChangeRow = z.input<typeof HistoryRow>

/** The table of changes. `isOfOne`: all are of one object, which needs no column. */
export function Changes({ rows, isOfOne = false }: { rows: readonly ChangeRow[]; isOfOne?: boolean }) {
  return (
    <Table caption="Changes">
      <thead>
        <tr>
          <Head stay>{`Time (${zoneWords()})`}</Head>
          <Head>Who</Head>
          {!isOfOne && <Head>What</Head>}
          <Head>Change</Head>
          <ActionHead>Put it back</ActionHead>
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={row.id}>
            <RowHead stay className="py-2 align-top font-normal!">
              {exactMoment(row.created_at)}
            </RowHead>
            <Cell className="py-2 align-top" title={row.actor.tool ?? undefined}>
              {row.actor.id === null ? (
                actorInWords(row.actor)
              ) : (
                <Link to="/history" search={{ actor: row.actor.id }} className="hover:underline">
                  {actorInWords(row.actor)}
                </Link>
              )}
            </Cell>
            {!isOfOne && (
              <Cell className="max-w-64 py-2 align-top">
                <span className="block text-sm text-ink-soft">{kindInWords(row.kind)}</span>
                <ObjectName row={row} />
              </Cell>
            )}
            <Cell className="py-2 align-top">
              <Differences row={row} />
            </Cell>
            <ActionCell>
              <PutBack row={row} rows={rows} />
            </ActionCell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function ObjectName({ row: { kind, object_id, object_name } }: { row: ChangeRow }) {
  if (object_id === null) return object_name
  return (
    <Link to="/history" search={{ kind, id: object_id }} className="block truncate font-medium hover:underline">
      {object_name}
    </Link>
  )
}

function Differences({ row: { change, fields, undoes_id } }: { row: ChangeRow }) {
  const before = undoes_id === null ? '' : 'Put back: '
  if (change !== 'changed') return `${before}${change === 'created' ? 'Created' : 'Deleted'}`
  return (
    <ul>
      {fields.map(field => (
        <li key={field.name} className="max-w-160 truncate" title={titleOf(field)}>
          {before}
          <span className="text-ink-soft">{field.name.replaceAll('_', ' ')}: </span>
          {'is_secret' in field ? (
            'changed; secrets are not kept'
          ) : (
            <>
              <del className="text-ink-faint no-underline">{valueInWords(field.before)}</del> →{' '}
              <ins className="no-underline">{valueInWords(field.after)}</ins>
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

const titleOf = (field: ChangeRow['fields'][number]): string | undefined =>
  'is_secret' in field ? undefined : `${valueInWords(field.before)} → ${valueInWords(field.after)}`

/** Why a change is not put back. */
export const REASONS = {
  changed_since: 'It was changed again since.',
  undone_before: 'It was put back.',
  cannot_undo: 'This change cannot be put back.',
  undo_needs: 'An object that it needs was deleted.',
} as const

function PutBack({ row, rows }: { row: ChangeRow; rows: readonly ChangeRow[] }) {
  const confirm = useConfirm()
  const client = useQueryClient()
  const act = rows.filter(({ act_id }) => act_id === row.act_id)
  const undo = async (whole_act: boolean) => {
    const done = await call(undoChange, { params: { id: row.id }, body: { whole_act } })
    await client.invalidateQueries()
    return done
  }
  const ask = (whole_act: boolean) =>
    confirm({
      title: whole_act ? `Put all changes of this act back?` : `Put this change of ${row.object_name} back?`,
      words: whole_act
        ? 'Every object that the act changed gets its earlier values: all or none.'
        : 'Its fields get their earlier values. You can put that back as well.',
      action: 'Put it back',
      look: 'primary',
      deed: () => undo(whole_act),
      refresh: [listHistory],
      news: 'It is put back',
    })
  const reason = row.cannot_undo === null ? undefined : REASONS[row.cannot_undo]
  return (
    <span className="flex flex-wrap justify-end gap-1">
      <Button
        size="sm"
        look="quiet"
        reason={reason}
        aria-label={`Put back the change of ${row.object_name} at ${exactMoment(row.created_at)}`}
        onClick={() => ask(false)}
      >
        Put it back
      </Button>
      {act.length > 1 && act[0]?.id === row.id && (
        <Button size="sm" look="quiet" onClick={() => ask(true)}>
          Put the whole act back
        </Button>
      )}
    </span>
  )
}

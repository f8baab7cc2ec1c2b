/** Stores compared files with their lines, and reads them back. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '../../ground/db/tables.ts'
import type { EventType } from '../../contract/event-types.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Column } from './api.ts'
import type { NetworkLine } from './read-lines.ts'

/** A stored file. */
export type StoredFile = {
  readonly id: string
  readonly network_id: string
  readonly created_at: string
  readonly titles: string[]
  readonly columns: Record<Column, string | null>
  readonly currency: string | null
  readonly time_zone: string
  readonly shift_minutes: number
  readonly from_at: string | null
  readonly to_at: string | null
  readonly lines: number
}

/** Lines of a statement: more would keep the process from redirects while they are encoded. */
const PORTION = 2000

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Inserts the lines of a file. */
export async function insertLines(
  trx: Transaction<Tables>,
  org_id: number,
  reconciliation_id: string,
  lines: readonly NetworkLine[],
): Promise<void> {
  for (let from = 0; from < lines.length; from += PORTION) {
    const rows = lines.slice(from, from + PORTION).map(({ at, ...line }) => ({ ...line, at: isoOf(at) }))
    await sql`
      insert into reconciliation_lines (org_id, reconciliation_id, line, click_id, click_text, transaction_id, amount, currency,
        status, type, is_named, sent_status, at, repeats_line, error)
      select ${org_id}::int, ${reconciliation_id}::uuid, t.*
      from json_to_recordset(${JSON.stringify(rows)}) as t(line int, click_id uuid, click_text text, transaction_id text, amount text,
        currency text, status text, type text, is_named boolean, sent_status text, at timestamptz, repeats_line int, error text)`.execute(
      trx,
    )
  }
}

/** A file of the organization; undefined if it has none with this id. */
export async function readFile(db: Kysely<Tables>, org_id: number, id: string): Promise<StoredFile | undefined> {
  return await db
    .selectFrom('reconciliations')
    .select(['id', 'network_id', 'created_at', 'titles', 'columns', 'currency', 'time_zone', 'shift_minutes'])
    .select(['from_at', 'to_at', 'lines'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .$castTo<StoredFile>()
    .executeTakeFirst()
}

type StoredLine = Omit<NetworkLine, 'at' | 'status' | 'type'> & {
  at: string | null
  status: EventStatus
  type: EventType | null
}

/** All lines of a file, in its order. */
export async function readStoredLines(db: Kysely<Tables>, org_id: number, id: string): Promise<NetworkLine[]> {
  const lines: NetworkLine[] = []
  for (;;) {
    const rows = await db
      .selectFrom('reconciliation_lines')
      .select(['line', 'click_id', 'click_text', 'transaction_id', 'amount', 'currency', 'status', 'type'])
      .select(['is_named', 'sent_status', 'at', 'repeats_line', 'error'])
      .where('org_id', '=', org_id)
      .where('reconciliation_id', '=', id)
      .where('line', '>', lines.at(-1)?.line ?? 0)
      .orderBy('line')
      .limit(PORTION)
      .$castTo<StoredLine>()
      .execute()
    lines.push(...rows.map(({ at, ...line }) => ({ ...line, at: at === null ? null : msOfDatabase(at) })))
    if (rows.length < PORTION) return lines
  }
}

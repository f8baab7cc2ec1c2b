/** The clicks of a day as a Parquet file: the current facts of each click, with anonymised visitors. */
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { TEXT_DIMENSIONS } from '../../contract/explore-dimensions.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import { quoted } from './columns.ts'
import type { Ask } from './engine.ts'
import type { Files } from './files.ts'
import { NO_FACTS, USUAL_WORDS } from './table.ts'
import type { Snapshot } from './snapshot.ts'

/** Columns of object ids, which the file has in the form of the API. */
const OBJECTS = ['campaign', 'offer', 'landing', 'ad_account', 'bot'] as const
const DOLLARS = {
  revenue: `(revenue * 0.000001::decimal(7,6))::decimal(18,6)`,
  revenue_pending: `(revenue_pending * 0.000001::decimal(7,6))::decimal(18,6)`,
  cost: `(cost * 0.000000001::decimal(10,9))::decimal(18,9)`,
}

type DayFilePlace = {
  readonly files: Files
  readonly reads: Pick<pg.Pool, 'query'>
  readonly org_id: number
  /** A folder that the scanning process may write to. */
  readonly folder: string
}

/**
 * A row for each tracked click of a snapshot of one day, by time. It reads the segments, because the local copy holds counts in pairs.
 * Returns 'gone' where a segment has been replaced since the snapshot.
 */
export async function dayAsParquet(
  ask: Ask,
  { files, reads, org_id, folder }: DayFilePlace,
  { segments, fresh, standing }: Snapshot,
  day: string,
): Promise<{ answer: Uint8Array } | 'gone'> {
  const staged = await files.fetch(reads, org_id, segments, 1)
  if (staged === undefined) return 'gone'
  const unsealed = fresh.flatMap(({ days }) => days.filter(one => one.day === day))
  const tailFiles = await files.lay(org_id, standing.length > 0 ? standing : unsealed)
  const own = join(folder, `staged-${newId()}`)
  try {
    const path = join(own, 'day.parquet')
    await mkdir(own, { recursive: true, mode: 0o700 })
    const rows = rowsIn([...staged.paths, ...tailFiles.paths])
    const ids = await ask(
      `select distinct unnest([${OBJECTS.join(', ')}]) as id from ${rows} facts where tracked order by 1`,
    )
    const known = ids.flatMap(({ id }) => (id === null ? [] : [String(id)]))
    const outside = known.map(id => `(${quoted(id)}, ${quoted(toWireId(id))})`)
    await ask(
      `copy (${rowsOfDay(rows, Date.parse(day), outside)}) to ${quoted(path)} (format parquet, compression zstd)`,
    )
    return { answer: await readFile(path) }
  } finally {
    await Promise.all([staged.drop(), tailFiles.drop(), rm(own, { recursive: true, force: true })])
  }
}

/** `hive_partitioning` is off, because the paths of segments have more parts than those of unsealed facts. */
const rowsIn = (paths: readonly string[]) =>
  paths.length === 0
    ? `(select * from ${NO_FACTS})`
    : `(from read_parquet([${paths.map(quoted).join(', ')}], union_by_name = true, hive_partitioning = false)
        union all by name select null::varchar as conversions, null::varchar as way, null::varchar as is_left_out where false)`

function rowsOfDay(rows: string, midnight: number, wire: readonly string[]): string {
  const outside =
    wire.length === 0 ? '(select null::varchar as id, null::varchar as wire)' : `(values ${wire.join(', ')})`
  const reached = LADDER.slice(1).map((rung, at) => `stages & ${REACHED[at]} <> 0 as ${rung}`)
  const columns = [
    `make_timestamp_ms(${midnight} + ms) at time zone 'UTC' as made_at`,
    ...OBJECTS.map(name => `of_${name}.wire as ${name}`),
    ...TEXT_DIMENSIONS.map(name => `net.${name}`),
    `coalesce(net.way, ${quoted(USUAL_WORDS.way)}) as way`,
    // Numbered by first click, because the hash would be the same in every file.
    'visitors.number::integer as visitor',
    'is_new',
    'net.is_left_out is not null as is_left_out',
    ...reached,
    'approved, pending, rejected',
    ...Object.entries(DOLLARS).map(([name, value]) => `${value} as ${name}`),
    'unread_cost',
  ]
  return `with net as (
      select * exclude (sign, conversions), sum(sign)::bigint as clicks from ${rows} facts where tracked group by all having sum(sign) > 0
    ), visitors as (
      select visitor, row_number() over (order by min(ms), visitor) as number from net where visitor is not null group by visitor
    ), ids as (select * from ${outside} ids(id, wire))
    select ${columns.join(', ')}
    from (select *, unnest(range(clicks)) as nth from net) net
    ${OBJECTS.map(name => `left join ids of_${name} on of_${name}.id = net.${name}`).join(' ')}
    left join visitors using (visitor)
    order by made_at`
}

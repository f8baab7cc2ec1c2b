/** The clicks of a day as a Parquet file for whatever engine people like: what Explore knows of each, as it is, and who nobody is. */
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS } from '../../contract/days.ts'
import { SUBS } from '../../contract/fields.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { LADDER, REACHED } from '../../contract/ladder.ts'
import { quoted } from './columns.ts'
import type { Ask } from './engine.ts'
import { type Facts, rowsIn } from './scan.ts'

/** Ids of objects, which are other ones outside. */
const OBJECTS = ['campaign', 'offer', 'landing', 'ad_account', 'bot'] as const
const TEXTS = ['path', 'geo', 'device', 'os', 'browser', 'platform', ...SUBS, 'ref_id']
const DOLLARS = {
  revenue: `(revenue * 0.000001::decimal(7,6))::decimal(18,6)`,
  revenue_pending: `(revenue_pending * 0.000001::decimal(7,6))::decimal(18,6)`,
  cost: `(cost * 0.000000001::decimal(10,9))::decimal(18,9)`,
}

/** A row for each tracked click of `facts`, which are of one day, in the order of their times. `folder` is one that the scanning process may write to. */
export async function dayAsParquet(ask: Ask, { files }: Pick<Facts, 'files'>, folder: string): Promise<Uint8Array> {
  const ids = await ask(
    `select distinct unnest([${OBJECTS.join(', ')}]) as id from ${rowsIn(files)} facts where tracked order by 1`,
  )
  const wire = ids.flatMap(({ id }) =>
    id === null ? [] : [`(${quoted(String(id))}, ${quoted(toWireId(String(id)))})`],
  )
  // As a tail is laid, and swept away like one if this process does not come to it.
  const own = join(folder, `tail-${newId()}`)
  const path = join(own, 'day.parquet')
  await mkdir(own, { recursive: true, mode: 0o700 })
  try {
    await ask(`copy (${rowsOfDay(files, wire)}) to ${quoted(path)} (format parquet, compression zstd)`)
    return await readFile(path)
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

function rowsOfDay(files: Facts['files'], wire: readonly string[]): string {
  const outside =
    wire.length === 0 ? '(select null::varchar as id, null::varchar as wire)' : `(values ${wire.join(', ')})`
  const reached = LADDER.slice(1).map((rung, at) => `stages & ${REACHED[at]} <> 0 as ${rung}`)
  const columns = [
    `make_timestamp_ms(d::bigint * ${DAY_MS} + ms) at time zone 'UTC' as made_at`,
    ...OBJECTS.map(name => `of_${name}.wire as ${name}`),
    ...TEXTS.map(name => `net.${name}`),
    // By when they came first: of a hash that is the same in every file nothing is left.
    'visitors.number::integer as visitor',
    'is_new',
    ...reached,
    'approved, pending, rejected',
    ...Object.entries(DOLLARS).map(([name, value]) => `${value} as ${name}`),
    'unread_cost',
  ]
  return `with net as (
      select * exclude (sign), sum(sign)::bigint as clicks from ${rowsIn(files)} facts where tracked group by all having sum(sign) > 0
    ), visitors as (
      select visitor, row_number() over (order by min(ms), visitor) as number from net where visitor is not null group by visitor
    ), ids as (select * from ${outside} ids(id, wire))
    select ${columns.join(', ')}
    from (select *, unnest(range(clicks)) as nth from net) net
    ${OBJECTS.map(name => `left join ids of_${name} on of_${name}.id = net.${name}`).join(' ')}
    left join visitors using (visitor)
    order by made_at`
}

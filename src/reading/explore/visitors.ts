/** Counts visitors, each once: exactly, or roughly where there are too many. */
import type { Found } from './engine.ts'
import { alike, type Ground, type Visitors } from './rows.ts'
import type { Sums } from './scan.ts'

export async function visitorsOf({ asking, facts, visitors }: Ground): Promise<Pick<Sums, 'unique_visitors'>> {
  if (visitors === undefined) return {}
  const [row] = await asking.ask(countVisitors(visitors, 'p as id', facts.sql))
  return { unique_visitors: BigInt((row?.['visitors'] as bigint | undefined) ?? 0n) }
}

/** Rows of `id` and `visitors`. A click that was taken out of a group leaves two rows there, which come to nothing. */
export function countVisitors(visitors: Visitors, id: string, from: string): string {
  if (visitors === 'estimate') return `select ${id}, approx_count_distinct(visitor) as visitors from ${from} group by 1`
  return `select id, count(*) as visitors from (
    select ${id}, visitor from ${from} where visitor is not null group by all having sum(sign) > 0
  ) group by id`
}

type VisitorsOf = (id: number) => Pick<Sums, 'unique_visitors'>
const NONE: VisitorsOf = () => ({})

/** Unique visitors of each kept row, and of what is left out below each row above, if anything is. */
export async function visitorsOfLevel(
  { asking, facts, visitors }: Ground,
  at: number,
  isWhole: boolean,
): Promise<[VisitorsOf, VisitorsOf]> {
  if (visitors === undefined) return [NONE, NONE]
  const kept = await asking.ask(
    countVisitors(
      visitors,
      'id',
      `(select up.id, f.visitor, f.sign from ${facts.sql} f join l${at} up on ${alike(at)})`,
    ),
  )
  if (isWhole) return [lookUp(kept), NONE]
  const others = await asking.ask(
    countVisitors(
      visitors,
      'p as id',
      `(from ${facts.sql} f where not exists (select 1 from l${at} up where ${alike(at)}))`,
    ),
  )
  return [lookUp(kept), lookUp(others)]
}

function lookUp(rows: readonly Found[]): VisitorsOf {
  const found = new Map(rows.map(row => [Number(row['id']), BigInt(row['visitors'] as bigint)]))
  return id => ({ unique_visitors: found.get(id) ?? 0n })
}

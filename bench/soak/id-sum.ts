// Compares two lists of ids without keeping them: by their number and by the sum of the ids. A run has millions of ids, and its memory must stay flat.

/** `sum` adds the last 64 bits of the ids, modulo 2 to the power of 64. Lists of random ids with an equal number and sum are the same. */
export type IdSum = { count: number; sum: bigint }

export const noIds = (): IdSum => ({ count: 0, sum: 0n })

/** Adds an id, as a uuid. */
export function addId(to: IdSum, uuid: string): void {
  to.count += 1
  to.sum = BigInt.asUintN(64, to.sum + BigInt(`0x${uuid.replaceAll('-', '').slice(16)}`))
}

/** The columns `count` and `sum` of a column of uuids, for a select. */
export const idSumSql = (column: string): string =>
  `count(*)::int as count, coalesce(sum(('x' || right(replace(${column}::text, '-', ''), 16))::bit(64)::bigint::numeric), 0)::text as sum`

/** A row of `idSumSql`. Bits are signed there, which the modulo makes equal. */
export const idSumOf = (row: { count: number; sum: string } | undefined): IdSum => ({
  count: row?.count ?? 0,
  sum: BigInt.asUintN(64, BigInt(row?.sum ?? 0)),
})

export const isSame = (one: IdSum, other: IdSum): boolean => one.count === other.count && one.sum === other.sum

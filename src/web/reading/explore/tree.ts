/** How keys move among the rows of a tree, given from top to bottom. */

export type TreeRow = {
  /** 1 for the first. */
  readonly level: number
  /** Undefined where it has no rows below. */
  readonly isOpen: boolean | undefined
}

/** The row that gets the focus, or that the present row opens or closes. */
type Move = { readonly to: number } | 'toggle' | undefined

/** Right opens a row or goes to the first row below it; left closes it or goes to its parent. Undefined for keys without a meaning. */
export function moveBy(key: string, rows: readonly TreeRow[], at: number): Move {
  const row = rows[at]
  if (row === undefined) return undefined
  const last = rows.length - 1
  switch (key) {
    case 'ArrowDown':
      return { to: Math.min(at + 1, last) }
    case 'ArrowUp':
      return { to: Math.max(at - 1, 0) }
    case 'Home':
      return { to: 0 }
    case 'End':
      return { to: last }
    case 'ArrowRight':
      return intoRow(row, rows[at + 1], at)
    case 'ArrowLeft':
      return outOfRow(row, rows, at)
    default:
      return undefined
  }
}

function intoRow(row: TreeRow, next: TreeRow | undefined, at: number): Move {
  if (row.isOpen === undefined) return undefined
  if (!row.isOpen) return 'toggle'
  return next !== undefined && next.level > row.level ? { to: at + 1 } : undefined
}

function outOfRow(row: TreeRow, rows: readonly TreeRow[], at: number): Move {
  if (row.isOpen === true) return 'toggle'
  const above = rows.slice(0, at).findLastIndex(one => one.level < row.level)
  return above < 0 ? undefined : { to: above }
}

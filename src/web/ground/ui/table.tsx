/** Tables: a caption for screen readers, a sticky head, and sideways scrolling inside their own frame. */
import { clsx } from 'clsx'
import { ArrowDown, ArrowUp } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'

type TableProps = {
  caption: string
  children: ReactNode
  className?: string
  /** For rows that open in place, as a tree. */
  role?: 'treegrid'
}

export function Table({ caption, children, className, role }: TableProps) {
  return (
    // A scrolling region must be reachable by keyboard.
    <section
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      aria-label={caption}
      className={clsx('scrolls-sideways relative overflow-auto rounded-lg border border-line', className)}
    >
      <table role={role} className="w-full border-separate border-spacing-0">
        <caption className="sr-only">{caption}</caption>
        {children}
      </table>
    </section>
  )
}

type HeadProps = ComponentProps<'th'> & {
  numeric?: boolean
  sort?: { now: 'asc' | 'desc' | undefined; onSort: () => void }
  stay?: boolean
  /** Only for screen readers. */
  unseen?: boolean
}

export function Head({ numeric, sort, stay, unseen, children, className, ...rest }: HeadProps) {
  const Arrow = sort?.now === 'asc' ? ArrowUp : ArrowDown
  return (
    <th
      scope="col"
      {...rest}
      aria-sort={sort?.now === undefined ? undefined : sort.now === 'asc' ? 'ascending' : 'descending'}
      className={clsx(
        'sticky top-0 z-10 h-8 border-b border-line bg-surface px-2.5 text-sm first:pl-3.5 last:pr-3.5 font-medium whitespace-nowrap text-ink-faint',
        numeric ? 'text-right' : 'text-left',
        stay && 'left-0 z-20!',
        className,
      )}
    >
      {unseen ? (
        <span className="sr-only">{children}</span>
      ) : sort === undefined ? (
        children
      ) : (
        <button
          type="button"
          onClick={sort.onSort}
          className={clsx(
            'relative inline-flex items-center gap-1 rounded-sm align-middle hover:text-ink',
            sort.now !== undefined && 'text-ink',
          )}
        >
          {/* Only in the sorted column: a place for an arrow in every head would make a wide table wider by a column. */}
          {numeric && sort.now !== undefined && <Arrow aria-hidden className="absolute right-full mr-0.5 size-3" />}
          {children}
          {!numeric && <Arrow aria-hidden className={clsx('size-3', sort.now === undefined && 'invisible')} />}
        </button>
      )}
    </th>
  )
}

export function Row({ className, ...rest }: ComponentProps<'tr'>) {
  return (
    <tr
      {...rest}
      className={clsx('group/row [&:last-child>*]:border-b-0 [&>*]:border-b [&>*]:border-line', className)}
    />
  )
}

export function Cell({
  numeric,
  faint,
  className,
  ...rest
}: ComponentProps<'td'> & { numeric?: boolean; faint?: boolean }) {
  return (
    <td
      {...rest}
      className={clsx(
        'h-8.5 px-2.5 whitespace-nowrap group-hover/row:bg-sunken/60 last:pr-3.5',
        numeric && 'text-right',
        faint && 'text-ink-faint',
        className,
      )}
    />
  )
}

// Cells that scroll under the actions fade out.
const FADES =
  "before:absolute before:inset-y-0 before:-left-4 before:w-4 before:bg-linear-to-l before:from-surface before:content-['']"

/** The head of the actions, only for screen readers. */
export function ActionHead({ children = 'Actions' }: { children?: string }) {
  return (
    <Head unseen className={clsx('right-0 z-20!', FADES)}>
      {children}
    </Head>
  )
}

/** The last cell of a row, with its menu or button. It stays in view while a wide table scrolls. */
export function ActionCell({ children }: { children?: ReactNode }) {
  return (
    <Cell
      className={clsx(
        'sticky right-0 z-[5] bg-surface pr-1! text-right group-hover/row:bg-[color-mix(in_oklab,var(--sunken)_60%,var(--surface))]!',
        FADES,
      )}
    >
      {children}
    </Cell>
  )
}

/** The cell that names its row. */
export function RowHead({ className, stay, ...rest }: ComponentProps<'th'> & { stay?: boolean }) {
  return (
    <th
      scope="row"
      {...rest}
      className={clsx(
        'h-8.5 px-2.5 text-left first:pl-3.5 font-medium whitespace-nowrap',
        stay
          ? 'sticky left-0 z-[5] bg-surface group-hover/row:bg-[color-mix(in_oklab,var(--sunken)_60%,var(--surface))]'
          : 'group-hover/row:bg-sunken/60',
        className,
      )}
    />
  )
}

/**
 * Rows of a list that are chosen for one act. `<Selection>` stands around the list, `<SelectBox>` in each row; with Shift a box takes the rows between it
 * and the last one along.
 */
import { createContext, type ReactNode, useContext, useState } from 'react'
import { Checkbox } from '../ui/field.tsx'

export type ChosenRows = {
  readonly ids: ReadonlySet<string>
  /** Every object that the filters match, also those on other pages. */
  readonly isAll: boolean
  choose: (ids: readonly string[], on: boolean) => void
  chooseAll: () => void
  clear: () => void
}

const Selecting = createContext<(ChosenRows & { last: string | undefined; note: (id: string) => void }) | undefined>(
  undefined,
)

export function Selection({ children, bar }: { children: ReactNode; bar: (chosen: ChosenRows) => ReactNode }) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const [isAll, setAll] = useState(false)
  const [last, note] = useState<string>()
  const chosen: ChosenRows = {
    ids,
    isAll,
    choose(some, on) {
      const next = new Set(ids)
      for (const id of some) {
        if (on) next.add(id)
        else next.delete(id)
      }
      setIds(next)
      setAll(false)
    },
    chooseAll: () => setAll(true),
    clear() {
      setIds(new Set())
      setAll(false)
    },
  }
  return (
    <Selecting value={{ ...chosen, last, note }}>
      {children}
      {bar(chosen)}
    </Selecting>
  )
}

/** The ids of the boxes on the page, in the order in which they are shown. */
const shownIds = (): string[] =>
  Array.from(document.querySelectorAll<HTMLInputElement>('input[data-select]')).map(({ value }) => value)

/** The ids from one row to another one, whichever is above. */
function between(one: string, other: string): string[] {
  const shown = shownIds()
  const [from, to] = [shown.indexOf(one), shown.indexOf(other)].toSorted((a, b) => a - b)
  return from === undefined || from < 0 || to === undefined ? [other] : shown.slice(from, to + 1)
}

/** The box of a row. Outside of a selection it shows nothing. */
export function SelectBox({ id, name }: { id: string; name: string }) {
  const selecting = useContext(Selecting)
  if (selecting === undefined) return null
  const { ids, isAll, choose, last, note } = selecting
  return (
    <Checkbox
      className="mr-2 inline-flex align-middle"
      label={<span className="sr-only">Select {name}</span>}
      data-select=""
      value={id}
      checked={isAll || ids.has(id)}
      onChange={event => {
        const isRange = (event.nativeEvent as MouseEvent).shiftKey && last !== undefined
        choose(isRange ? between(last, id) : [id], event.target.checked)
        note(id)
      }}
    />
  )
}

/** The box in the head of the table: all rows of the page. */
export function SelectPage() {
  const selecting = useContext(Selecting)
  if (selecting === undefined) return null
  const { ids, isAll, choose } = selecting
  return (
    <Checkbox
      className="mr-2 inline-flex align-middle"
      label={<span className="sr-only">Select all on this page</span>}
      checked={isAll || (ids.size > 0 && shownIds().every(id => ids.has(id)))}
      onChange={event => choose(shownIds(), event.target.checked)}
    />
  )
}

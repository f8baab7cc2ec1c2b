/** A week of half hours. A press toggles a cell, a drag paints the cells it crosses. On the keyboard, arrows move and space toggles. */
import { clsx } from 'clsx'
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'

export const DAY_NAMES = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const SLOTS = 48

/** The start of a half hour, such as "09:30". */
export const timeOf = (slot: number): string =>
  `${String(Math.floor(slot / 2)).padStart(2, '0')}:${slot % 2 === 0 ? '00' : '30'}`

type Cell = { day: number; slot: number }
type WeekGridProps = { week: readonly string[]; onChange: (week: string[]) => void }

export function WeekGrid({ week, onChange }: WeekGridProps) {
  const grid = useRef<HTMLTableElement>(null)
  const painting = useRef<'0' | '1'>(undefined)
  const [at, setAt] = useState<Cell>({ day: 0, slot: 18 })
  const isOpen = ({ day, slot }: Cell) => week[day]?.[slot] === '1'
  /** Paints from the previous cell to this one if both are in one day, because a fast pointer skips the cells between. */
  const paint = ({ day, slot }: Cell, to: '0' | '1', before: Cell) => {
    const [from, until] = before.day === day ? [Math.min(before.slot, slot), Math.max(before.slot, slot)] : [slot, slot]
    const painted = (one: string) => one.slice(0, from) + to.repeat(until - from + 1) + one.slice(until + 1)
    onChange(week.map((one, n) => (n === day ? painted(one) : one)))
    setAt({ day, slot })
  }
  const startPainting = (event: PointerEvent, cell: Cell) => {
    if (event.button !== 0) return
    // Without this, the events of a moving finger would all go to the first cell.
    event.currentTarget.releasePointerCapture(event.pointerId)
    painting.current = isOpen(cell) ? '0' : '1'
    paint(cell, painting.current, cell)
  }
  const continuePainting = (event: PointerEvent, cell: Cell) => {
    if (painting.current !== undefined && event.buttons > 0) paint(cell, painting.current, at)
  }
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    if (step === 'toggle') return paint(at, isOpen(at) ? '0' : '1', at)
    const next = { day: (at.day + step[0] + 7) % 7, slot: (at.slot + step[1] + SLOTS) % SLOTS }
    setAt(next)
    grid.current?.querySelector<HTMLElement>(`[data-cell="${next.day} ${next.slot}"]`)?.focus()
  }
  return (
    <table ref={grid} aria-label="Open hours" className="w-full table-fixed touch-none border-collapse select-none">
      <thead aria-hidden>
        <tr className="text-left text-xs text-ink-faint">
          <td aria-label="Day" className="w-9" />
          {Array.from({ length: 12 }, (_, n) => (
            <td key={n} colSpan={4} className="border-l border-line pl-0.5">
              {n * 2}
              <span className="max-sm:hidden">:00</span>
            </td>
          ))}
        </tr>
      </thead>
      <tbody>
        {DAY_NAMES.map((name, day) => (
          <tr key={name}>
            <th scope="row" className="text-left text-sm font-normal text-ink-soft">
              {name}
            </th>
            {Array.from({ length: SLOTS }, (_, slot) => {
              const cell = { day, slot }
              return (
                <td key={slot} className={clsx('border-b border-line p-0', slot % 4 === 0 && 'border-l')}>
                  <button
                    type="button"
                    aria-label={`${name} ${timeOf(slot)}`}
                    aria-pressed={isOpen(cell)}
                    data-cell={`${day} ${slot}`}
                    tabIndex={at.day === day && at.slot === slot ? 0 : -1}
                    onKeyDown={move}
                    onPointerUp={() => (painting.current = undefined)}
                    onPointerDown={event => startPainting(event, cell)}
                    onPointerEnter={event => continuePainting(event, cell)}
                    title={`${name} ${timeOf(slot)}–${timeOf(slot + 1)}`}
                    className={clsx(
                      'block h-7 w-full focus-visible:relative',
                      isOpen(cell) ? 'bg-accent' : 'bg-sunken hover:bg-accent-soft',
                    )}
                  />
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const STEPS: Readonly<Record<string, readonly [number, number] | 'toggle'>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ' ': 'toggle',
  Enter: 'toggle',
}

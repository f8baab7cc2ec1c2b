/** A menu that a button opens. */
import { Menu as Base } from '@base-ui/react/menu'
import { clsx } from 'clsx'
import { Check, ChevronRight, type LucideIcon } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'

const ITEM =
  'flex min-h-8 w-full items-center gap-2 rounded-md px-2 py-1 outline-none select-none data-highlighted:bg-sunken pointer-coarse:min-h-10'

const POPUP = 'popup max-h-(--available-height) overflow-y-auto p-1'
const WIDE = 'min-w-48 sm:w-96 sm:columns-2 sm:gap-1 [&>*]:break-inside-avoid'

export function Menu({
  trigger,
  children,
  align = 'end',
  wide = false,
}: {
  trigger: ReactElement<Record<string, unknown>>
  children: ReactNode
  align?: 'start' | 'end'
  /** Groups stand side by side if there is room. */
  wide?: boolean
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align={align} className="z-50">
          <Base.Popup className={clsx(POPUP, wide ? WIDE : 'min-w-48 max-w-80')}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

type MenuAtProps = {
  /** Where the menu opens, and where the focus returns to. Undefined while it is closed. */
  anchor: HTMLElement | undefined
  onClose: () => void
  children: ReactNode
}

/** One menu that many elements open, such as the rows of a long table. */
export function MenuAt({ anchor, onClose, children }: MenuAtProps) {
  return (
    <Base.Root open={anchor !== undefined} onOpenChange={open => !open && onClose()}>
      <Base.Portal>
        <Base.Positioner anchor={anchor} sideOffset={4} align="start" className="z-50">
          <Base.Popup
            finalFocus={() => anchor ?? true}
            className="popup max-h-(--available-height) min-w-52 max-w-80 overflow-y-auto p-1"
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** A menu within a menu. */
export function SubMenu({
  icon: Icon,
  label,
  wide = false,
  children,
}: {
  icon: LucideIcon
  label: string
  wide?: boolean
  children: ReactNode
}) {
  return (
    <Base.SubmenuRoot>
      <Base.SubmenuTrigger className={ITEM}>
        <Icon aria-hidden className="size-3.5 shrink-0" />
        <span className="min-w-0 flex-1">{label}</span>
        <ChevronRight aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
      </Base.SubmenuTrigger>
      <Base.Portal>
        <Base.Positioner sideOffset={2} alignOffset={-4} className="z-50">
          <Base.Popup className={clsx(POPUP, wide ? WIDE : 'min-w-44 max-w-80')}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.SubmenuRoot>
  )
}

type MenuItemProps = {
  icon?: LucideIcon
  onSelect: () => void
  danger?: boolean
  reason?: string | undefined
  children: ReactNode
}

export function MenuItem({ icon: Icon, onSelect, danger, reason, children }: MenuItemProps) {
  const off = reason !== undefined
  return (
    <Base.Item
      onClick={onSelect}
      disabled={off}
      className={clsx(ITEM, off ? 'text-ink-faint' : danger && 'text-bad data-highlighted:bg-bad-soft')}
    >
      {Icon && <Icon aria-hidden className="size-3.5 shrink-0" />}
      <span className="min-w-0">
        {children}
        {off && <span className="block text-sm">{reason}</span>}
      </span>
    </Base.Item>
  )
}

export function MenuChoice({
  value,
  onChange,
  label,
  options,
}: {
  value: string
  onChange: (value: string) => void
  label: string
  options: readonly { value: string; label: ReactNode }[]
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={onChange}>
      <Base.Group>
        <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-sm text-ink-faint">{label}</Base.GroupLabel>
        {options.map(option => (
          <Base.RadioItem key={option.value} value={option.value} closeOnClick className={ITEM}>
            <span className="grid size-3.5 shrink-0 place-items-center">
              <Base.RadioItemIndicator>
                <Check aria-hidden className="size-3.5 text-accent" />
              </Base.RadioItemIndicator>
            </span>
            <span className="min-w-0 truncate">{option.label}</span>
          </Base.RadioItem>
        ))}
      </Base.Group>
    </Base.RadioGroup>
  )
}

export function MenuLine() {
  return <Base.Separator className="my-1 h-px bg-line" />
}

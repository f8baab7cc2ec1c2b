/** Buttons. A button that may not be pressed stays visible and disabled, and says why (`reason`). */
import { clsx } from 'clsx'
import { LoaderCircle, type LucideIcon } from 'lucide-react'
import { type ComponentProps, useId } from 'react'
import { notify } from './toast.tsx'
import { Tooltip } from './tooltip.tsx'

export type Look = 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-quiet'
export type Size = 'sm' | 'md'

const LOOKS: Record<Look, string> = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-deep',
  plain: 'border-line-strong/60 bg-surface text-ink hover:border-line-strong hover:bg-sunken',
  quiet: 'border-transparent bg-transparent text-ink-soft hover:bg-sunken hover:text-ink',
  danger: 'border-transparent bg-bad text-surface hover:bg-bad-deep',
  'danger-quiet': 'border-transparent bg-transparent text-bad hover:bg-bad-soft',
}
const OFF = 'border-line bg-sunken text-ink-faint'

const SIZES: Record<Size, string> = {
  sm: 'h-7 gap-1.5 px-2 text-sm pointer-coarse:h-9',
  md: 'h-8 gap-1.5 px-3 text-base pointer-coarse:h-10',
}

/** The classes of a button, for links that look like one. */
export function buttonLook(look: Look = 'plain', size: Size = 'md', off = false): string {
  return clsx(
    'inline-flex shrink-0 select-none items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors',
    SIZES[size],
    off ? OFF : LOOKS[look],
  )
}

type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> & {
  look?: Look
  size?: Size
  icon?: LucideIcon
  pending?: boolean | undefined
  /** Why it cannot be pressed now. Pass undefined if it can; leave it out if it always can. */
  reason?: string | undefined
}

export function Button(props: ButtonProps) {
  const {
    look = 'plain',
    size = 'md',
    icon: Icon,
    pending = false,
    reason,
    children,
    className,
    onClick,
    type = 'button',
    ...rest
  } = props
  const id = useId()
  const off = reason !== undefined
  const button = (
    <button
      {...rest}
      type={off ? 'button' : type}
      aria-disabled={off || pending || undefined}
      aria-busy={pending || undefined}
      aria-describedby={off ? id : rest['aria-describedby']}
      // A tap shows no tooltip, so a press shows the reason.
      onClick={off ? () => notify(reason) : pending ? event => event.preventDefault() : onClick}
      className={clsx(buttonLook(look, size, off), className)}
    >
      {pending ? (
        <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
      ) : (
        Icon && <Icon aria-hidden className="size-3.5" />
      )}
      {children}
      {off && (
        <span id={id} hidden>
          {reason}
        </span>
      )}
    </button>
  )
  // Wrapped even without a reason: otherwise the button would be mounted again when the reason changes, and lose the focus.
  return 'reason' in props ? <Tooltip words={reason}>{button}</Tooltip> : button
}

type IconButtonProps = Omit<ButtonProps, 'children' | 'icon' | 'reason' | 'pending'> & {
  icon: LucideIcon
  label: string
}

/** A button that shows only an icon; `label` is its name and its tooltip. */
export function IconButton({ icon: Icon, label, look = 'quiet', size = 'md', className, ...rest }: IconButtonProps) {
  return (
    <Tooltip words={label}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        className={clsx(
          buttonLook(look, size),
          size === 'sm' ? 'w-7 pointer-coarse:w-9' : 'w-8 pointer-coarse:w-10',
          'px-0!',
          className,
        )}
      >
        <Icon aria-hidden className="size-4" />
      </button>
    </Tooltip>
  )
}

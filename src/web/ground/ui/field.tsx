/** The fields of a form: the label above, the hint or the error below, linked for screen readers. */
import { clsx } from 'clsx'
import { ChevronDown } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { sentence } from './plain-words.ts'

type FieldProps = {
  label: string
  hint?: ReactNode
  error?: string | undefined
  optional?: boolean | undefined
  hideLabel?: boolean | undefined
}

function Frame({
  id,
  label,
  hint,
  error,
  optional,
  hideLabel,
  className,
  children,
}: FieldProps & { id: string; className?: string | undefined; children: ReactNode }) {
  return (
    <div className={clsx('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'font-medium'}>
        {label}
        {optional && <span className="font-normal text-ink-faint"> (optional)</span>}
      </label>
      {children}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-sm text-bad">
          {sentence(error)}
        </p>
      )}
      {hint !== undefined && error === undefined && (
        <p id={`${id}-hint`} className="text-sm text-ink-faint">
          {hint}
        </p>
      )}
    </div>
  )
}

function tied(id: string, { hint, error }: Pick<FieldProps, 'hint' | 'error'>) {
  const wrong = error !== undefined
  const described = wrong ? `${id}-error` : hint === undefined ? undefined : `${id}-hint`
  return { id, 'aria-invalid': wrong || undefined, 'aria-describedby': described } as const
}

export function TextField({
  label,
  hint,
  error,
  optional,
  hideLabel,
  className,
  ...rest
}: FieldProps & ComponentProps<'input'>) {
  const id = useId()
  const frame = { id, label, hint, error, optional, hideLabel, className }
  return (
    <Frame {...frame}>
      <input {...rest} {...tied(id, { hint, error })} className="control w-full" />
    </Frame>
  )
}

export function TextArea({
  label,
  hint,
  error,
  optional,
  hideLabel,
  className,
  ...rest
}: FieldProps & ComponentProps<'textarea'>) {
  const id = useId()
  const frame = { id, label, hint, error, optional, hideLabel, className }
  return (
    <Frame {...frame}>
      <textarea {...rest} {...tied(id, { hint, error })} className="control h-auto! w-full py-1.5" />
    </Frame>
  )
}

/** The browser's own select, so that it works as usual on phones, by keyboard and with screen readers. `toolbar`: a lighter frame. */
export function SelectField({
  label,
  hint,
  error,
  optional,
  hideLabel,
  toolbar,
  className,
  children,
  ...rest
}: FieldProps & ComponentProps<'select'> & { toolbar?: boolean }) {
  const id = useId()
  const frame = { id, label, hint, error, optional, hideLabel, className }
  return (
    <Frame {...frame}>
      <div className="relative">
        <select
          {...rest}
          {...tied(id, { hint, error })}
          className={clsx('control w-full appearance-none truncate pr-7!', toolbar && 'border-line!')}
        >
          {children}
        </select>
        <ChevronDown
          aria-hidden
          className="pointer-events-none absolute top-1/2 right-2 size-3.5 -translate-y-1/2 text-ink-faint"
        />
      </div>
    </Frame>
  )
}

type CheckboxProps = Omit<ComponentProps<'input'>, 'type' | 'disabled'> & {
  label: ReactNode
  words?: ReactNode
  /** Why it cannot be ticked now. It stays in the tab order, so that screen readers say the reason. */
  reason?: string | undefined
}

export function Checkbox({ label, words, reason, className, onChange, ...rest }: CheckboxProps) {
  const id = useId()
  const off = reason !== undefined
  return (
    <div className={clsx('flex items-start gap-2.5', className)}>
      <span className="relative grid h-5 shrink-0 place-items-center">
        <input
          {...rest}
          id={id}
          type="checkbox"
          aria-disabled={off || undefined}
          aria-describedby={words === undefined && !off ? undefined : `${id}-words`}
          onClick={off ? event => event.preventDefault() : undefined}
          onChange={off ? () => undefined : onChange}
          className="peer size-4 appearance-none rounded-sm border border-line-strong bg-surface checked:border-accent checked:bg-accent aria-disabled:border-line aria-disabled:bg-sunken aria-disabled:checked:bg-line-strong pointer-coarse:size-5"
        />
        <svg
          aria-hidden
          viewBox="0 0 16 16"
          className="pointer-events-none absolute size-4 stroke-on-accent opacity-0 peer-checked:opacity-100"
          fill="none"
          strokeWidth="2"
        >
          <path d="m3.5 8.5 3 3 6-7" />
        </svg>
      </span>
      <span className="min-w-0">
        <label htmlFor={id} className={off ? 'text-ink-faint' : undefined}>
          {label}
        </label>
        {(words !== undefined || off) && (
          <span id={`${id}-words`} className="block text-sm text-ink-faint">
            {words}
            {off && <span className="block text-warn">{reason}</span>}
          </span>
        )}
      </span>
    </div>
  )
}

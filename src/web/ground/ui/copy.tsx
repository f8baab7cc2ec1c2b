/** Buttons that copy secrets, ids, URLs and commands. */
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, type Look, type Size } from './button.tsx'
import { notify } from './toast.tsx'

type CopyProps = {
  text: string
  label?: string
  look?: Look
  size?: Size
  /** The object the text belongs to, for a list with several such buttons. */
  about?: string
  /** Why it cannot be copied. */
  reason?: string | undefined
}

export function CopyButton({ text, label = 'Copy', look = 'plain', size = 'sm', about, ...rest }: CopyProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () =>
    copyText(text).then(
      () => setCopied(true),
      () => notify('The browser did not allow copying', 'Select the text and copy it by hand.'),
    )
  return (
    <Button {...rest} look={look} size={size} icon={copied ? Check : Copy} onClick={() => void copy()}>
      <span aria-live="polite">
        {copied ? 'Copied' : label}
        {about !== undefined && <span className="sr-only"> {about}</span>}
      </span>
    </Button>
  )
}

/** Copies by a method that the browser allows. @throws if it allows none. */
export async function copyText(text: string) {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  // Plain http on a name other than localhost has no clipboard API; execCommand still works there.
  const field = document.createElement('textarea')
  field.value = text
  field.setAttribute('readonly', '')
  field.className = 'fixed opacity-0'
  // Inside an open dialog, because focus may not leave it.
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  place.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (!done) throw new Error('not copied')
}

/** A command or URL in a frame, with a button that copies it. */
export function CodeBlock({ text, label, ...rest }: Pick<CopyProps, 'text' | 'reason'> & { label: string }) {
  return (
    <figure className="overflow-hidden rounded-md border border-line bg-sunken">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line py-1 pr-1 pl-3 text-sm text-ink-soft">
        {label}
        <CopyButton {...rest} text={text} look="quiet" />
      </figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2 font-mono text-sm">
        {text}
      </pre>
    </figure>
  )
}

/** A whole number that JavaScript would round. */
const LONG_NUMBER = /[[:,]\s*-?\d{16}/

/** JSON in indented lines, any other text unchanged. JSON whose numbers would be rounded also stays unchanged. */
export function indented(text: string): string {
  if (!/^\s*[[{]/.test(text) || LONG_NUMBER.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

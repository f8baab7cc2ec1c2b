/** The address of a postback rule: macros to insert, an example call, and macros that are left out. */
import { useRef } from 'react'
import { MACRO, POSTBACK_MACROS, type PostbackMacro, unknownPostbackMacros } from '../../../outgoing/postbacks/api.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { exampleOf } from './example.ts'

type AddressFieldProps = {
  url: string
  error: string | undefined
  onChange: (url: string) => void
}

export function AddressField({ url, error, onChange }: AddressFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  const insert = (macro: PostbackMacro) => {
    const field = input.current
    const [from, to] = [field?.selectionStart ?? url.length, field?.selectionEnd ?? url.length]
    const text = `{${macro}}`
    onChange(url.slice(0, from) + text + url.slice(to))
    field?.focus()
    requestAnimationFrame(() => field?.setSelectionRange(from + text.length, from + text.length))
  }
  return (
    <div className="flex flex-col gap-2.5">
      <TextField
        ref={input}
        label="Address"
        placeholder="https://tracker.example/postback?subid={ref_id}"
        value={url}
        error={error}
        onChange={event => onChange(event.target.value)}
        className="[&_input]:font-mono"
        spellCheck={false}
        autoComplete="off"
      />
      <fieldset aria-label="Macros to insert" className="flex flex-wrap gap-1">
        {POSTBACK_MACROS.map(macro => (
          <button
            key={macro}
            type="button"
            onClick={() => insert(macro)}
            className="rounded-sm border border-line bg-sunken px-1.5 py-0.5 font-mono text-sm text-ink-soft hover:border-line-strong hover:text-ink pointer-coarse:py-1.5"
          >{`{${macro}}`}</button>
        ))}
      </fieldset>
      {url !== '' && (
        <p className="text-sm break-all text-ink-faint">
          Example: <span className="font-mono text-ink-soft">{exampleOf(url)}</span>
        </p>
      )}
      {url.includes('YOUR_') && (
        <p className="text-sm text-warn">
          Replace each YOUR_… with the value of your account at the source, then switch the rule on.
        </p>
      )}
      <LeftOutMacros unknown={unknownPostbackMacros(url)} onReplace={() => onChange(withRevenue(url))} />
    </div>
  )
}

/** Operators expect {payout}, which is not a macro of postbacks; {revenue} is the amount of the conversion. */
const withRevenue = (url: string) =>
  url.replace(MACRO, (text, name: string | undefined) => (name?.toLowerCase() === 'payout' ? '{revenue}' : text))

function LeftOutMacros({ unknown, onReplace }: { unknown: readonly string[]; onReplace: () => void }) {
  const others = unknown.filter(name => name !== 'payout').map(name => `{${name}}`)
  return (
    <div className="flex flex-col gap-1 text-sm text-warn" aria-live="polite">
      {unknown.includes('payout') && (
        <p>
          {'{payout}'} is not a macro and is left out. The conversion’s amount is {'{revenue}'}.{' '}
          <button type="button" onClick={onReplace} className="font-medium underline hover:no-underline">
            Use {'{revenue}'}
          </button>
        </p>
      )}
      {others.length > 0 && (
        <p className="break-all">
          {others.join(', ')} {others.length === 1 ? 'is not a Sluice macro' : 'are not Sluice macros'} and{' '}
          {others.length === 1 ? 'is' : 'are'} left out.
        </p>
      )}
    </div>
  )
}

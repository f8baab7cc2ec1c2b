/** A preview of an address while it is typed: its macros filled with sample values, and the macros that do not exist. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { Address, type Preview } from '../../../contract/address.ts'
import { useSettled } from '../../ground/settled.ts'

const PAUSE_MS = 300

type PreviewProps = {
  /** The text of the field. */
  address: string
  preview: (url: string) => Promise<z.input<typeof Preview>>
  /** The warning shown if the address has no {click_id}; absent if that is fine. */
  withoutClick?: string
}

export function AddressPreview({ address, preview, withoutClick }: PreviewProps) {
  const typed = useSettled(address.trim(), PAUSE_MS)
  const isAddress = Address.safeParse(typed).success
  const filled = useQuery({
    queryKey: ['address preview', typed],
    queryFn: () => preview(typed),
    enabled: isAddress,
    placeholderData: keepPreviousData,
  }).data
  if (!isAddress || filled === undefined) return null
  const unknown = filled.unknown_macros.map(name => `{${name}}`)
  return (
    <div className="flex flex-col gap-1 text-sm" aria-live="polite">
      <p className="text-ink-faint">
        Preview: <span className="font-mono break-all text-ink-soft">{filled.url}</span>
      </p>
      {unknown.length > 0 && (
        <p className="text-warn">
          {unknown.join(', ')} {unknown.length === 1 ? 'is not a macro and will be' : 'are not macros and will be'} left
          blank.
        </p>
      )}
      {withoutClick !== undefined && !/(\{|%7b)click_id(\}|%7d)/i.test(typed) && (
        <p className="text-warn">{withoutClick}</p>
      )}
    </div>
  )
}

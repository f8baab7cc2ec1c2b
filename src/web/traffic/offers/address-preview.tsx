/** What visitors will see of an address that is being typed: its macros filled in by example, and those that do not exist. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { z } from 'zod'
import { Address, type Preview } from '../../../contract/address.ts'

const PAUSE_MS = 300

type PreviewProps = {
  /** As it stands in the field. */
  address: string
  preview: (url: string) => Promise<z.input<typeof Preview>>
  /** Said of an address that does not hand the click on; left out where that is nothing to say. */
  withoutClick?: string
}

export function AddressPreview({ address, preview, withoutClick }: PreviewProps) {
  const typed = useSettled(address.trim())
  const isAddress = Address.safeParse(typed).success
  const shown = useQuery({
    queryKey: ['address preview', typed],
    queryFn: () => preview(typed),
    enabled: isAddress,
    placeholderData: keepPreviousData,
  }).data
  if (!isAddress || shown === undefined) return null
  const unknown = shown.unknown_macros.map(name => `{${name}}`)
  return (
    <div className="flex flex-col gap-1 text-sm" aria-live="polite">
      <p className="text-ink-faint">
        A visitor is sent to <span className="font-mono break-all text-ink-soft">{shown.url}</span>
      </p>
      {unknown.length > 0 && (
        <p className="text-warn">
          {unknown.join(', ')}{' '}
          {unknown.length === 1 ? 'is no macro of Sluice and is' : 'are no macros of Sluice and are'} left out.
        </p>
      )}
      {withoutClick !== undefined && !/(\{|%7b)click_id(\}|%7d)/i.test(typed) && (
        <p className="text-warn">{withoutClick}</p>
      )}
    </div>
  )
}

/** A text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

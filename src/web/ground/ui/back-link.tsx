/** The link above the title of a detail page, back to its list. */
import { createLink } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import type { ComponentProps } from 'react'

function BackAnchor({ children, ...rest }: ComponentProps<'a'>) {
  return (
    <a {...rest} className="mb-2 inline-flex items-center gap-1 text-ink-soft hover:text-ink">
      <ChevronLeft aria-hidden className="size-3.5" />
      {children}
    </a>
  )
}

export const BackLink = createLink(BackAnchor)

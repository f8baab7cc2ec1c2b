/** The sidebar's links. */
import { useQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { myPreferences, useActive } from '../ground/active.ts'
import { useIsCharging } from '../ground/charging.ts'
import { NAVIGATION, type NavigationGroup } from './navigation.ts'

type LinkProps = { onGo: () => void }

export function NavigationLinks({ onGo }: LinkProps) {
  return (
    <nav aria-label="Main" className="-mx-3 flex min-h-0 flex-1 flex-col gap-1.5 overflow-y-auto px-3 pb-1">
      {NAVIGATION.map(group =>
        group.isFolded ? (
          <FoldedGroup key={group.title} group={group} onGo={onGo} />
        ) : (
          <div key={group.title}>
            <p id={`places-${group.title}`} className="px-2 pb-0.5 text-sm text-ink-faint">
              {group.title}
            </p>
            <Links group={group} onGo={onGo} />
          </div>
        ),
      )}
    </nav>
  )
}

/** A group for rarely used pages, folded so that all other links fit on a laptop's screen. It is open on its own pages. */
function FoldedGroup({ group, onGo }: LinkProps & { group: NavigationGroup }) {
  const isHere = useRouterState({
    select: ({ location }) => group.links.some(({ link }) => location.pathname.startsWith(link.to)),
  })
  const [isOpened, setOpened] = useState(false)
  return (
    <details open={isHere || isOpened} onToggle={event => setOpened(event.currentTarget.open)} className="group">
      <summary
        id={`places-${group.title}`}
        className="flex cursor-pointer list-none items-center gap-1 rounded-md px-2 pb-0.5 text-sm text-ink-faint hover:text-ink"
      >
        {group.title}
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
      </summary>
      <Links group={group} onGo={onGo} />
    </details>
  )
}

/** Pages that mean nothing to this person. */
export function useHidden(): (path: string) => boolean {
  const isCharging = useIsCharging()
  const { role } = useActive()
  const isOperator = useQuery(myPreferences).data?.is_operator === true && role === 'owner'
  return path => (path === '/billing' && !isCharging) || (path === '/settings/backup' && !isOperator)
}

function Links({ group, onGo }: LinkProps & { group: NavigationGroup }) {
  const isHidden = useHidden()
  const links = group.links.filter(({ link }) => !isHidden(link.to))
  return (
    <ul aria-labelledby={`places-${group.title}`} className="flex flex-col gap-px">
      {links.map(({ link, label, icon: Icon }) => (
        <li key={label}>
          <Link
            {...link}
            onClick={onGo}
            activeOptions={{ exact: link.to === '/', includeSearch: false }}
            className="relative flex h-6.5 items-center gap-2.5 rounded-md px-2 font-medium text-ink-soft hover:bg-line/50 hover:text-ink pointer-coarse:h-10 aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent aria-[current=page]:before:absolute aria-[current=page]:before:inset-y-1.5 aria-[current=page]:before:-left-3 aria-[current=page]:before:w-0.75 aria-[current=page]:before:rounded-r-full aria-[current=page]:before:bg-accent"
          >
            <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.75} />
            {label}
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** The navigation's links. */
import { Link } from '@tanstack/react-router'
import { NAVIGATION } from './navigation.ts'

export function Places({ onGo }: { onGo: () => void }) {
  return (
    <nav aria-label="Main" className="-mx-3 flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-3 pb-2">
      {NAVIGATION.map(group => (
        <div key={group.title}>
          <p id={`places-${group.title}`} className="px-2 pb-0.5 text-sm text-ink-faint">
            {group.title}
          </p>
          <ul aria-labelledby={`places-${group.title}`} className="flex flex-col gap-px">
            {group.places.map(({ link, label, icon: Icon }) => (
              <li key={label}>
                <Link
                  {...link}
                  onClick={onGo}
                  activeOptions={{ exact: link.to === '/', includeSearch: false }}
                  className="relative flex h-7 items-center gap-2.5 rounded-md px-2 font-medium text-ink-soft hover:bg-line/50 hover:text-ink pointer-coarse:h-10 aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent aria-[current=page]:before:absolute aria-[current=page]:before:inset-y-1.5 aria-[current=page]:before:-left-3 aria-[current=page]:before:w-0.75 aria-[current=page]:before:rounded-r-full aria-[current=page]:before:bg-accent"
                >
                  <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.75} />
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

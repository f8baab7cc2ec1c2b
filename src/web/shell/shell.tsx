/**
 * The frame of every page behind the sign-in: navigation, workspace menu and profile menu. Without a workspace it shows a page of its
 * own instead.
 */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon, Search } from 'lucide-react'
import { Fragment, useEffect, useRef, useState } from 'react'
import { myPreferences, useOrganizations, type Workspace } from '../ground/active.ts'
import { IconButton } from '../ground/ui/button.tsx'
import { useEventSettings } from '../ground/figures/goals.ts'
import { setScreenZone, zoneNow } from '../ground/zone.ts'
import { setEventNames } from '../ground/rungs.ts'
import { Drawer } from '../ground/ui/drawer.tsx'
import { Wordmark } from '../ground/ui/mark.tsx'
import { PersonMenu } from '../people/accounts/person-menu.tsx'
import { whoIsSignedIn } from '../people/accounts/session.ts'
import { OtherTabs } from '../people/organizations/other-tabs.tsx'
import { DeletedWorkspace, NoWorkspace } from '../people/organizations/restore-page.tsx'
import { WorkspaceMenu } from '../people/organizations/workspace-menu.tsx'
import { NavigationLinks } from './navigation-links.tsx'
import { Shortcuts } from './palette/shortcuts.tsx'
import { SecondFactorRequired } from './second-factor-required.tsx'
import { UrgentLine } from './urgent-line.tsx'

export function Shell() {
  const organizations = useOrganizations()
  const active = organizations.find(one => one.active)
  const preferences = useQuery(myPreferences).data
  setScreenZone(preferences?.timezone ?? active?.timezone ?? 'UTC')
  const [open, setOpen] = useState(false)
  const [isFinding, setFinding] = useState(false)
  const main = useFocusAfterNavigation()
  if (active === undefined) return <NoWorkspace />
  const isOpen = active.deleted_at === null
  const find = isOpen && <IconButton icon={Search} label="Find (Ctrl K)" size="sm" onClick={() => setFinding(true)} />
  const sidebar = (
    <>
      <WorkspaceMenu />
      <NavigationLinks onGo={() => setOpen(false)} />
      <div className="border-t border-line pt-2">
        <PersonMenu />
      </div>
    </>
  )
  return (
    <div className="lg:grid lg:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the page
      </a>
      <OtherTabs />
      {isOpen && <Shortcuts isFinding={isFinding} onFind={setFinding} />}
      <aside className="sticky top-0 hidden h-dvh flex-col gap-4 border-r border-line bg-sunken/60 px-3 pt-4 pb-2 lg:flex">
        <div className="flex items-center justify-between pl-2">
          <Wordmark />
          {find}
        </div>
        {sidebar}
      </aside>
      <header className="sticky top-0 z-30 flex h-12 items-center justify-between border-b border-line bg-canvas px-4 lg:hidden">
        <Wordmark />
        <span>
          {find}
          <IconButton icon={MenuIcon} label="Menu" onClick={() => setOpen(true)} />
        </span>
      </header>
      <Drawer open={open} onClose={() => setOpen(false)} title="Menu">
        {sidebar}
      </Drawer>
      <div className="flex min-h-[calc(100dvh-3rem)] min-w-0 flex-col lg:min-h-dvh">
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          className="w-full max-w-[96rem] flex-1 px-4 pt-5 pb-12 outline-none sm:px-6 lg:px-8 lg:pt-6"
        >
          <Inside workspace={active} />
        </main>
        <footer className="flex flex-wrap gap-x-4 px-4 pb-4 text-sm text-ink-faint sm:px-6 lg:px-8">
          <span>{`All times are ${zoneNow()}, money is in US dollars${active.reporting_currency === null ? '' : ' unless marked otherwise'}.`}</span>
          <a href="https://db-ip.com" rel="noreferrer" target="_blank" className="underline-offset-2 hover:underline">
            IP Geolocation by DB-IP
          </a>
        </footer>
      </div>
    </div>
  )
}

/** The page, or the notice that replaces it while the workspace is deleted or requires a second factor. */
function Inside({ workspace }: { workspace: Workspace }) {
  const hasFactor = useSuspenseQuery(whoIsSignedIn).data?.user.twoFactorEnabled ?? false
  const isOwnPage = useRouterState({ select: ({ location }) => location.pathname === '/settings/profile' })
  if (workspace.deleted_at !== null) return <DeletedWorkspace workspace={workspace} />
  if (workspace.requires_second_factor && !hasFactor)
    return isOwnPage ? <Outlet /> : <SecondFactorRequired workspace={workspace} />
  return (
    <>
      <UrgentLine />
      <Page />
    </>
  )
}

/** The page. It is mounted again when the names of events or the time zone change, because every screen shows them. */
function Page() {
  const { names } = useEventSettings()
  setEventNames(names)
  return (
    <Fragment key={`${zoneNow()} ${JSON.stringify(names)}`}>
      <Outlet />
    </Fragment>
  )
}

/** Moves the focus to the content after navigation, so that a screen reader starts there and not at the pressed link. */
function useFocusAfterNavigation() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: state => state.resolvedLocation?.pathname })
  const before = useRef(path)
  useEffect(() => {
    // A dialog that was opened while the page was loading keeps the focus.
    const isAbove = document.querySelector('[role=dialog][data-open]') !== null
    if (before.current !== undefined && path !== before.current && !isAbove)
      main.current?.focus({ preventScroll: true })
    before.current = path
  }, [path])
  return main
}

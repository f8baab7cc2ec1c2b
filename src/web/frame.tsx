/** The two parent routes of all pages: the root, and the one for signed-in people. */
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { setScreenZone } from './ground/zone.ts'
import { myOrganizations, myPreferences } from './ground/active.ts'
import { eventSettings } from './ground/figures/goals.ts'
import { whoIsSignedIn } from './people/accounts/session.ts'
import { NotFound } from './shell/lost.tsx'
import { Shell } from './shell/shell.tsx'

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
})

/** Without a session it opens the sign-in page, which returns here afterwards. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(whoIsSignedIn)
    if (session === null)
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
    const [{ data }, preferences] = await Promise.all([
      context.queries.ensureQueryData(myOrganizations),
      context.queries.ensureQueryData(myPreferences).catch(() => undefined),
    ])
    // Before an address is read, because its days depend on the zone.
    setScreenZone(preferences?.timezone ?? data.find(({ active }) => active)?.timezone ?? 'UTC')
    // A workspace that is not open has no event settings to read. The pages show any error.
    const isOpen = data.some(
      one => one.active && one.deleted_at === null && (session.user.twoFactorEnabled || !one.requires_second_factor),
    )
    if (isOpen) await context.queries.ensureQueryData(eventSettings).catch(() => undefined)
  },
  component: Shell,
})

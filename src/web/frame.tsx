/** The two frames every page stands in: the root, and the one behind the sign-in. */
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { keepTimeBy } from './ground/zone.ts'
import { myOrganizations, myPreferences } from './ground/active.ts'
import { eventSettings } from './ground/figures/goals.ts'
import { whoIsSignedIn } from './people/accounts/session.ts'
import { NotFound } from './shell/lost.tsx'
import { Shell } from './shell/shell.tsx'

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
})

/** Opens for nobody without a session, and comes back to where one wanted to be. */
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
    // Before an address is read: its days begin by this clock.
    keepTimeBy(preferences?.timezone ?? data.find(({ active }) => active)?.timezone ?? 'UTC')
    // Without a workspace that is open there are none, and what refuses here is told by the pages.
    const isOpen = data.some(
      one => one.active && one.deleted_at === null && (session.user.twoFactorEnabled || !one.requires_second_factor),
    )
    if (isOpen) await context.queries.ensureQueryData(eventSettings).catch(() => undefined)
  },
  component: Shell,
})

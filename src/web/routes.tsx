/** The map of the dashboard: every page, its address, and what its address may hold. */
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { z } from 'zod'
import { readSetup } from '../accounts/api.ts'
import { whoIsSignedIn } from './accounts/session.ts'
import { ask } from './call.ts'
import { ClicksSearch } from './feed/search.ts'
import {
  AdSpendSearch,
  BillingSearch,
  ClickFlowsSearch,
  ConversionsSearch,
  DeliveriesSearch,
  LandingsSearch,
  ListSearch,
  OffersSearch,
  PagedSearch,
  PostbacksSearch,
  RefusedSearch,
} from './lists.ts'
import { myOrganizations } from './organizations/active.ts'
import { OverviewSearch } from './reports/search.ts'
import { NotFound, Stumbled } from './shell/lost.tsx'
import { Shell } from './shell/shell.tsx'
import { Waiting } from './ui/page.tsx'

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet, notFoundComponent: NotFound })

// Before the door.
const firstRun = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  beforeLoad: async ({ context }) => {
    if (!(await context.queries.fetchQuery(ask(readSetup))).needs_owner) throw redirect({ to: '/' })
  },
  component: lazyRouteComponent(() => import('./accounts/first-run-page.tsx'), 'FirstRunPage'),
})
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: z.object({
    next: z.string().optional().catch(undefined),
    email: z.string().optional().catch(undefined),
  }),
  beforeLoad: async ({ context }) => {
    if ((await context.queries.fetchQuery(ask(readSetup))).needs_owner) throw redirect({ to: '/setup' })
  },
  component: lazyRouteComponent(() => import('./accounts/sign-in-page.tsx'), 'SignInPage'),
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./accounts/sign-up-page.tsx'), 'SignUpPage'),
})
const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./accounts/password-pages.tsx'), 'ForgotPasswordPage'),
})
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  validateSearch: z.object({ token: z.string().optional().catch(undefined) }),
  component: lazyRouteComponent(() => import('./accounts/password-pages.tsx'), 'ResetPasswordPage'),
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$id',
  component: lazyRouteComponent(() => import('./organizations/invitation-page.tsx'), 'InvitationPage'),
})

// Behind it.
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(whoIsSignedIn)
    if (session === null)
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
    await context.queries.ensureQueryData(myOrganizations)
  },
  component: Shell,
})
const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: OverviewSearch,
  component: lazyRouteComponent(() => import('./reports/overview-page.tsx'), 'OverviewPage'),
})
const clicks = createRoute({
  getParentRoute: () => inside,
  path: '/clicks',
  validateSearch: ClicksSearch,
  component: lazyRouteComponent(() => import('./feed/clicks-page.tsx'), 'ClicksPage'),
})
const trace = createRoute({
  getParentRoute: () => inside,
  path: '/clicks/$id',
  component: lazyRouteComponent(() => import('./traces/trace-page.tsx'), 'TracePage'),
})
const networks = createRoute({
  getParentRoute: () => inside,
  path: '/networks',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./networks/networks-page.tsx'), 'NetworksPage'),
})
const network = createRoute({
  getParentRoute: () => inside,
  path: '/networks/$id',
  component: lazyRouteComponent(() => import('./networks/network-page.tsx'), 'NetworkPage'),
})
const refusedEvents = createRoute({
  getParentRoute: () => inside,
  path: '/refused-events',
  validateSearch: RefusedSearch,
  component: lazyRouteComponent(() => import('./refused-events/refused-events-page.tsx'), 'RefusedEventsPage'),
})
const conversions = createRoute({
  getParentRoute: () => inside,
  path: '/conversions',
  validateSearch: ConversionsSearch,
  component: lazyRouteComponent(() => import('./events/conversions-page.tsx'), 'ConversionsPage'),
})
const campaigns = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns',
  validateSearch: ListSearch,
  component: lazyRouteComponent(() => import('./campaigns/campaigns-page.tsx'), 'CampaignsPage'),
})
const newCampaign = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/new',
  component: lazyRouteComponent(() => import('./campaigns/campaign-page.tsx'), 'NewCampaignPage'),
})
const campaign = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/$id',
  component: lazyRouteComponent(() => import('./campaigns/campaign-page.tsx'), 'CampaignPage'),
})
const clickFlows = createRoute({
  getParentRoute: () => inside,
  path: '/click-flows',
  validateSearch: ClickFlowsSearch,
  component: lazyRouteComponent(() => import('./click-flows/flows-page.tsx'), 'FlowsPage'),
})
const clickFlow = createRoute({
  getParentRoute: () => inside,
  path: '/click-flows/$id',
  component: lazyRouteComponent(() => import('./click-flows/flow-page.tsx'), 'FlowPage'),
})
const offers = createRoute({
  getParentRoute: () => inside,
  path: '/offers',
  validateSearch: OffersSearch,
  component: lazyRouteComponent(() => import('./offers/offers-page.tsx'), 'OffersPage'),
})
const landings = createRoute({
  getParentRoute: () => inside,
  path: '/landings',
  validateSearch: LandingsSearch,
  component: lazyRouteComponent(() => import('./landings/landings-page.tsx'), 'LandingsPage'),
})
const funnels = createRoute({
  getParentRoute: () => inside,
  path: '/funnels',
  validateSearch: ListSearch,
  component: lazyRouteComponent(() => import('./funnels/funnels-page.tsx'), 'FunnelsPage'),
})
const postbacks = createRoute({
  getParentRoute: () => inside,
  path: '/postbacks',
  validateSearch: PostbacksSearch,
  component: lazyRouteComponent(() => import('./postbacks/postbacks-page.tsx'), 'PostbacksPage'),
})
const deliveries = createRoute({
  getParentRoute: () => inside,
  path: '/deliveries',
  validateSearch: DeliveriesSearch,
  component: lazyRouteComponent(() => import('./deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
})
const adSpend = createRoute({
  getParentRoute: () => inside,
  path: '/ad-spend',
  validateSearch: AdSpendSearch,
  component: lazyRouteComponent(() => import('./ad-spend/ad-spend-page.tsx'), 'AdSpendPage'),
})
const adSpendImport = createRoute({
  getParentRoute: () => inside,
  path: '/ad-spend/import',
  component: lazyRouteComponent(() => import('./ad-spend/import-page.tsx'), 'ImportPage'),
})
const adAccounts = createRoute({
  getParentRoute: () => inside,
  path: '/ad-accounts',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./ad-accounts/ad-accounts-page.tsx'), 'AdAccountsPage'),
})
const adAccount = createRoute({
  getParentRoute: () => inside,
  path: '/ad-accounts/$id',
  component: lazyRouteComponent(() => import('./ad-accounts/account-page.tsx'), 'AdAccountPage'),
})
const bots = createRoute({
  getParentRoute: () => inside,
  path: '/bots',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./bots/bots-page.tsx'), 'BotsPage'),
})
const billing = createRoute({
  getParentRoute: () => inside,
  path: '/billing',
  validateSearch: BillingSearch,
  component: lazyRouteComponent(() => import('./billing/billing-page.tsx'), 'BillingPage'),
})
const keys = createRoute({
  getParentRoute: () => inside,
  path: '/settings/api-keys',
  component: lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
})
const key = createRoute({
  getParentRoute: () => inside,
  path: '/settings/api-keys/$id',
  validateSearch: z.object({ grant: z.literal(true).optional().catch(undefined) }),
  component: lazyRouteComponent(() => import('./keys/key-page.tsx'), 'KeyPage'),
})
const team = createRoute({
  getParentRoute: () => inside,
  path: '/settings/team',
  component: lazyRouteComponent(() => import('./organizations/team-page.tsx'), 'TeamPage'),
})
const workspace = createRoute({
  getParentRoute: () => inside,
  path: '/settings/workspace',
  component: lazyRouteComponent(() => import('./organizations/workspace-page.tsx'), 'WorkspacePage'),
})
const profile = createRoute({
  getParentRoute: () => inside,
  path: '/settings/profile',
  component: lazyRouteComponent(() => import('./accounts/profile-page.tsx'), 'ProfilePage'),
})

const map = root.addChildren([
  firstRun,
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  invitation,
  inside.addChildren([
    overview,
    clicks,
    trace,
    conversions,
    networks,
    network,
    refusedEvents,
    campaigns,
    newCampaign,
    campaign,
    clickFlows,
    clickFlow,
    offers,
    landings,
    funnels,
    adSpend,
    adSpendImport,
    postbacks,
    deliveries,
    adAccounts,
    adAccount,
    bots,
    billing,
    keys,
    key,
    team,
    workspace,
    profile,
  ]),
])

export function openRouter(queries: QueryClient) {
  return createRouter({
    routeTree: map,
    context: { queries },
    defaultPreload: 'intent',
    // Data is the queries' affair: the router only brings the page's code ahead.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultPendingMs: 300,
    defaultPendingComponent: Waiting,
    defaultErrorComponent: Stumbled,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>
  }
}

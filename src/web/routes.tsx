/** The routes of the dashboard: every page, its address, and its search parameters. */
import type { QueryClient } from '@tanstack/react-query'
import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { AUTOMATION } from './automation-routes.tsx'
import { DOOR } from './door-routes.tsx'
import { inside, root } from './frame.tsx'
import { OverviewSearch } from './ground/figures/search.ts'
import {
  AdSpendSearch,
  BroadcastSearch,
  CampaignsSearch,
  ClickFlowsSearch,
  CloneSearch,
  ConversionsSearch,
  DeliveriesSearch,
  FunnelsSearch,
  LandingsSearch,
  OffersSearch,
  PagedSearch,
  PaymentsSearch,
  PostbacksSearch,
  ReconcileSearch,
  RefusedSearch,
  SubscribersSearch,
} from './ground/lists.ts'
import { Waiting } from './ground/ui/page.tsx'
import { dayAt } from './ground/zone.ts'
import { reportOfOverview } from './reading/explore/old-addresses.ts'
import { ClicksSearch } from './reading/feed/search.ts'
import { remembered } from './reading/reports/remembered.ts'
import { REPORT } from './report-routes.tsx'
import { SETTINGS } from './settings-routes.tsx'
import { PageFailed } from './shell/lost.tsx'

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: OverviewSearch,
  beforeLoad: ({ search, location }) => {
    const table = reportOfOverview(location.search)
    if (table !== undefined) throw redirect({ to: '/report', search: table, replace: true })
    const isBare = Object.values(search).every(value => value === undefined)
    const last = isBare ? remembered(dayAt(Date.now())) : {}
    if (Object.values(last).some(value => value !== undefined)) throw redirect({ to: '/', search: last, replace: true })
  },
  component: lazyRouteComponent(() => import('./reading/reports/overview-page.tsx'), 'OverviewPage'),
})
const clicks = createRoute({
  getParentRoute: () => inside,
  path: '/clicks',
  validateSearch: ClicksSearch,
  component: lazyRouteComponent(() => import('./reading/feed/clicks-page.tsx'), 'ClicksPage'),
})
const trace = createRoute({
  getParentRoute: () => inside,
  path: '/clicks/$id',
  component: lazyRouteComponent(() => import('./reading/traces/trace-page.tsx'), 'TracePage'),
})
const networks = createRoute({
  getParentRoute: () => inside,
  path: '/networks',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./intake/networks/networks-page.tsx'), 'NetworksPage'),
})
const network = createRoute({
  getParentRoute: () => inside,
  path: '/networks/$id',
  component: lazyRouteComponent(() => import('./intake/networks/network-page.tsx'), 'NetworkPage'),
})
const reconcile = createRoute({
  getParentRoute: () => inside,
  path: '/networks/$id/reconcile',
  validateSearch: ReconcileSearch,
  component: lazyRouteComponent(() => import('./intake/reconciliations/reconcile-page.tsx'), 'ReconcilePage'),
})
const refusedEvents = createRoute({
  getParentRoute: () => inside,
  path: '/refused-events',
  validateSearch: RefusedSearch,
  component: lazyRouteComponent(() => import('./intake/refused-events/refused-events-page.tsx'), 'RefusedEventsPage'),
})
const conversions = createRoute({
  getParentRoute: () => inside,
  path: '/conversions',
  validateSearch: ConversionsSearch,
  component: lazyRouteComponent(() => import('./intake/events/conversions-page.tsx'), 'ConversionsPage'),
})
const campaigns = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns',
  validateSearch: CampaignsSearch,
  component: lazyRouteComponent(() => import('./traffic/campaigns/campaigns-page.tsx'), 'CampaignsPage'),
})
const newCampaign = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/new',
  validateSearch: CloneSearch,
  component: lazyRouteComponent(() => import('./traffic/campaigns/campaign-page.tsx'), 'NewCampaignPage'),
})
const campaign = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/$id',
  component: lazyRouteComponent(() => import('./traffic/campaigns/campaign-page.tsx'), 'CampaignPage'),
})
const clickFlows = createRoute({
  getParentRoute: () => inside,
  path: '/click-flows',
  validateSearch: ClickFlowsSearch,
  component: lazyRouteComponent(() => import('./traffic/click-flows/flows-page.tsx'), 'FlowsPage'),
})
const clickFlow = createRoute({
  getParentRoute: () => inside,
  path: '/click-flows/$id',
  component: lazyRouteComponent(() => import('./traffic/click-flows/flow-page.tsx'), 'FlowPage'),
})
const offers = createRoute({
  getParentRoute: () => inside,
  path: '/offers',
  validateSearch: OffersSearch,
  component: lazyRouteComponent(() => import('./traffic/offers/offers-page.tsx'), 'OffersPage'),
})
const landings = createRoute({
  getParentRoute: () => inside,
  path: '/landings',
  validateSearch: LandingsSearch,
  component: lazyRouteComponent(() => import('./traffic/landings/landings-page.tsx'), 'LandingsPage'),
})
const sources = createRoute({
  getParentRoute: () => inside,
  path: '/sources',
  validateSearch: FunnelsSearch,
  component: lazyRouteComponent(() => import('./traffic/sources/sources-page.tsx'), 'SourcesPage'),
})
const source = createRoute({
  getParentRoute: () => inside,
  path: '/sources/$id',
  component: lazyRouteComponent(() => import('./traffic/sources/source-page.tsx'), 'SourcePage'),
})
const funnels = createRoute({
  getParentRoute: () => inside,
  path: '/funnels',
  validateSearch: FunnelsSearch,
  component: lazyRouteComponent(() => import('./traffic/funnels/funnels-page.tsx'), 'FunnelsPage'),
})
const postbacks = createRoute({
  getParentRoute: () => inside,
  path: '/postbacks',
  validateSearch: PostbacksSearch,
  component: lazyRouteComponent(() => import('./outgoing/postbacks/postbacks-page.tsx'), 'PostbacksPage'),
})
const deliveries = createRoute({
  getParentRoute: () => inside,
  path: '/deliveries',
  validateSearch: DeliveriesSearch,
  component: lazyRouteComponent(() => import('./outgoing/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
})
const adSpend = createRoute({
  getParentRoute: () => inside,
  path: '/ad-spend',
  validateSearch: AdSpendSearch,
  component: lazyRouteComponent(() => import('./money/ad-spend/ad-spend-page.tsx'), 'AdSpendPage'),
})
const adSpendImport = createRoute({
  getParentRoute: () => inside,
  path: '/ad-spend/import',
  component: lazyRouteComponent(() => import('./money/ad-spend/import-page.tsx'), 'ImportPage'),
})
const spendAccounts = createRoute({
  getParentRoute: () => inside,
  path: '/ad-spend/accounts',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./money/spend-accounts/accounts-page.tsx'), 'SpendAccountsPage'),
})
const spendAccount = createRoute({
  getParentRoute: () => inside,
  path: '/ad-spend/accounts/$id',
  component: lazyRouteComponent(() => import('./money/spend-accounts/account-page.tsx'), 'SpendAccountPage'),
})
const adAccounts = createRoute({
  getParentRoute: () => inside,
  path: '/ad-accounts',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./outgoing/ad-accounts/ad-accounts-page.tsx'), 'AdAccountsPage'),
})
const adAccount = createRoute({
  getParentRoute: () => inside,
  path: '/ad-accounts/$id',
  component: lazyRouteComponent(() => import('./outgoing/ad-accounts/account-page.tsx'), 'AdAccountPage'),
})
const bots = createRoute({
  getParentRoute: () => inside,
  path: '/bots',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./telegram/bots/bots-page.tsx'), 'BotsPage'),
})
const bot = createRoute({
  getParentRoute: () => inside,
  path: '/bots/$id',
  component: lazyRouteComponent(() => import('./telegram/bots/bot-page.tsx'), 'BotPage'),
})
const broadcasts = createRoute({
  getParentRoute: () => inside,
  path: '/broadcasts',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./telegram/broadcasts/broadcasts-page.tsx'), 'BroadcastsPage'),
})
const broadcast = createRoute({
  getParentRoute: () => inside,
  path: '/broadcasts/$id',
  validateSearch: BroadcastSearch,
  component: lazyRouteComponent(() => import('./telegram/broadcasts/broadcast-page.tsx'), 'BroadcastPage'),
})
const channels = createRoute({
  getParentRoute: () => inside,
  path: '/channels',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./telegram/channels/channels-page.tsx'), 'ChannelsPage'),
})
const channel = createRoute({
  getParentRoute: () => inside,
  path: '/channels/$id',
  component: lazyRouteComponent(() => import('./telegram/channels/channel-page.tsx'), 'ChannelPage'),
})
const subscribers = createRoute({
  getParentRoute: () => inside,
  path: '/subscribers',
  validateSearch: SubscribersSearch,
  component: lazyRouteComponent(() => import('./telegram/subscribers/subscribers-page.tsx'), 'SubscribersPage'),
})
const subscriber = createRoute({
  getParentRoute: () => inside,
  path: '/subscribers/$id',
  component: lazyRouteComponent(() => import('./telegram/subscribers/subscriber-page.tsx'), 'SubscriberPage'),
})
const payments = createRoute({
  getParentRoute: () => inside,
  path: '/payments',
  validateSearch: PaymentsSearch,
  component: lazyRouteComponent(() => import('./telegram/payments/payments-page.tsx'), 'PaymentsPage'),
})
const map = root.addChildren([
  ...DOOR,
  inside.addChildren([
    overview,
    ...REPORT,
    clicks,
    trace,
    networks,
    network,
    reconcile,
    refusedEvents,
    conversions,
    campaigns,
    newCampaign,
    campaign,
    clickFlows,
    clickFlow,
    offers,
    landings,
    sources,
    source,
    funnels,
    postbacks,
    deliveries,
    adSpend,
    adSpendImport,
    spendAccounts,
    spendAccount,
    adAccounts,
    adAccount,
    bots,
    bot,
    channels,
    channel,
    broadcasts,
    broadcast,
    subscribers,
    subscriber,
    payments,
    ...AUTOMATION,
    ...SETTINGS,
  ]),
])

export function openRouter(queries: QueryClient) {
  return createRouter({
    routeTree: map,
    context: { queries },
    defaultPreload: 'intent',
    // The router preloads only the page's code. Queries load the data.
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultPendingMs: 300,
    defaultPendingComponent: Waiting,
    defaultErrorComponent: PageFailed,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>
  }
}

/** The pages of the settings. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { z } from 'zod'
import { inside } from './frame.tsx'
import { BillingSearch, DomainsSearch, HistorySearch } from './ground/lists.ts'

const billing = createRoute({
  getParentRoute: () => inside,
  path: '/billing',
  validateSearch: BillingSearch,
  component: lazyRouteComponent(() => import('./money/billing/billing-page.tsx'), 'BillingPage'),
})
const keys = createRoute({
  getParentRoute: () => inside,
  path: '/settings/api-keys',
  component: lazyRouteComponent(() => import('./people/keys/keys-page.tsx'), 'KeysPage'),
})
const key = createRoute({
  getParentRoute: () => inside,
  path: '/settings/api-keys/$id',
  validateSearch: z.object({ grant: z.literal(true).optional().catch(undefined) }),
  component: lazyRouteComponent(() => import('./people/keys/key-page.tsx'), 'KeyPage'),
})
const connect = createRoute({
  getParentRoute: () => inside,
  path: '/connect',
  validateSearch: z.object({ request: z.string().catch('') }),
  component: lazyRouteComponent(() => import('./people/connections/consent-page.tsx'), 'ConsentPage'),
})
const events = createRoute({
  getParentRoute: () => inside,
  path: '/settings/events',
  component: lazyRouteComponent(() => import('./traffic/event-settings/event-settings-page.tsx'), 'EventSettingsPage'),
})
const tags = createRoute({
  getParentRoute: () => inside,
  path: '/settings/tags',
  component: lazyRouteComponent(() => import('./traffic/tags/tags-page.tsx'), 'TagsPage'),
})
const domains = createRoute({
  getParentRoute: () => inside,
  path: '/settings/domains',
  validateSearch: DomainsSearch,
  component: lazyRouteComponent(() => import('./traffic/domains/domains-page.tsx'), 'DomainsPage'),
})
const domain = createRoute({
  getParentRoute: () => inside,
  path: '/settings/domains/$id',
  component: lazyRouteComponent(() => import('./traffic/domains/domain-page.tsx'), 'DomainPage'),
})
const team = createRoute({
  getParentRoute: () => inside,
  path: '/settings/team',
  component: lazyRouteComponent(() => import('./people/organizations/team-page.tsx'), 'TeamPage'),
})
const workspace = createRoute({
  getParentRoute: () => inside,
  path: '/settings/workspace',
  component: lazyRouteComponent(() => import('./people/organizations/workspace-page.tsx'), 'WorkspacePage'),
})
const profile = createRoute({
  getParentRoute: () => inside,
  path: '/settings/profile',
  component: lazyRouteComponent(() => import('./people/accounts/profile-page.tsx'), 'ProfilePage'),
})

const rates = createRoute({
  getParentRoute: () => inside,
  path: '/settings/rates',
  component: lazyRouteComponent(() => import('./money/rates/rates-page.tsx'), 'RatesPage'),
})

const backup = createRoute({
  getParentRoute: () => inside,
  path: '/settings/backup',
  component: lazyRouteComponent(() => import('./shell/backup-page.tsx'), 'BackupPage'),
})

const history = createRoute({
  getParentRoute: () => inside,
  path: '/history',
  validateSearch: HistorySearch,
  component: lazyRouteComponent(() => import('./people/history/history-page.tsx'), 'HistoryPage'),
})

export const SETTINGS = [
  history,
  billing,
  rates,
  keys,
  key,
  connect,
  events,
  tags,
  domains,
  domain,
  team,
  workspace,
  backup,
  profile,
] as const

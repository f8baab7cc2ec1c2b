/** The Report page, redirects from its old addresses, and the pages of split tests. */
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { inside } from './frame.tsx'
import { ExploreSearch } from './reading/explore/search.ts'

const report = createRoute({
  getParentRoute: () => inside,
  path: '/report',
  validateSearch: ExploreSearch,
  component: lazyRouteComponent(() => import('./reading/explore/report-page.tsx'), 'ReportPage'),
})
/** The page's old address. */
const explore = createRoute({
  getParentRoute: () => inside,
  path: '/explore',
  validateSearch: ExploreSearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/report', search, replace: true })
  },
})

const funnelTests = createRoute({
  getParentRoute: () => inside,
  path: '/funnels/$id/tests',
  component: lazyRouteComponent(() => import('./reading/split-tests/tests-page.tsx'), 'FunnelTestsPage'),
})
const flowTests = createRoute({
  getParentRoute: () => inside,
  path: '/click-flows/$id/tests',
  component: lazyRouteComponent(() => import('./reading/split-tests/tests-page.tsx'), 'FlowTestsPage'),
})

export const REPORT = [report, explore, funnelTests, flowTests] as const

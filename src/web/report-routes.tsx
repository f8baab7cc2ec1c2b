/** The Report page, and redirects from its old addresses. */
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

export const REPORT = [report, explore] as const

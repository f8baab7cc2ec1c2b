/** The pages of rules and receivers. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { inside } from './frame.tsx'
import { PagedSearch } from './ground/lists.ts'

const rules = createRoute({
  getParentRoute: () => inside,
  path: '/automation/rules',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./automation/rules/rules-page.tsx'), 'RulesPage'),
})
const rule = createRoute({
  getParentRoute: () => inside,
  path: '/automation/rules/$id',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./automation/rules/rule-page.tsx'), 'RulePage'),
})
const receivers = createRoute({
  getParentRoute: () => inside,
  path: '/automation/receivers',
  validateSearch: PagedSearch,
  component: lazyRouteComponent(() => import('./automation/receivers/receivers-page.tsx'), 'ReceiversPage'),
})

export const AUTOMATION = [rules, rule, receivers] as const

/** The pages for people who are not signed in: first start, sign-in, and links from mails. */
import type { QueryClient } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { z } from 'zod'
import { readSetup } from '../people/sign-in/api.ts'
import { root } from './frame.tsx'
import { ask } from './ground/call.ts'

/** Opens the setup page while the installation has no owner. */
async function redirectToSetup(queries: QueryClient): Promise<void> {
  if ((await queries.fetchQuery(ask(readSetup))).needs_owner) throw redirect({ to: '/setup' })
}

const firstRun = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  beforeLoad: async ({ context }) => {
    if (!(await context.queries.fetchQuery(ask(readSetup))).needs_owner) throw redirect({ to: '/' })
  },
  component: lazyRouteComponent(() => import('./people/accounts/first-run-page.tsx'), 'FirstRunPage'),
})
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: z.object({
    next: z.string().optional().catch(undefined),
    email: z.string().optional().catch(undefined),
  }),
  beforeLoad: ({ context }) => redirectToSetup(context.queries),
  component: lazyRouteComponent(() => import('./people/accounts/sign-in-page.tsx'), 'SignInPage'),
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  beforeLoad: ({ context }) => redirectToSetup(context.queries),
  component: lazyRouteComponent(() => import('./people/accounts/sign-up-page.tsx'), 'SignUpPage'),
})
const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./people/accounts/password-pages.tsx'), 'ForgotPasswordPage'),
})
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  validateSearch: z.object({ token: z.string().optional().catch(undefined) }),
  component: lazyRouteComponent(() => import('./people/accounts/password-pages.tsx'), 'ResetPasswordPage'),
})
const confirmEmail = createRoute({
  getParentRoute: () => root,
  path: '/confirm-email',
  validateSearch: z.object({ token: z.string().catch('') }),
  component: lazyRouteComponent(() => import('./people/accounts/confirm-email-page.tsx'), 'ConfirmEmailPage'),
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$secret',
  component: lazyRouteComponent(() => import('./people/organizations/invitation-page.tsx'), 'InvitationPage'),
})

export const DOOR = [firstRun, signIn, signUp, forgotPassword, resetPassword, confirmEmail, invitation] as const

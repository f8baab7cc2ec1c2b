/** Starts the dashboard: queries, router, and what every page may use. */
import './styles.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { MutationCache, notifyManager, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { readAttention } from '../reading/attention/api.ts'
import { myOrganizations } from './ground/active.ts'
import { Refused } from './ground/call.ts'
import { paintTheme } from './ground/theme.ts'
import { Confirmations } from './ground/ui/confirm.tsx'
import { setFormMessages } from './ground/ui/plain-words.ts'
import { Toasts } from './ground/ui/toast.tsx'
import { TooltipProvider } from './ground/ui/tooltip.tsx'
import { whoIsSignedIn } from './people/accounts/session.ts'
import { SignInAgain, sessionHasEnded } from './people/accounts/sign-in-again.tsx'
import { openRouter } from './routes.tsx'

paintTheme()
setFormMessages()
// By default pages are told of a change after a timer, and until then a box that was just clicked jumps back.
notifyManager.setScheduler(queueMicrotask)

/** Handles errors that concern the session. A person who was signed in signs in again over the page; others get the sign-in page. */
function handleSessionError(refused: unknown) {
  if (!(refused instanceof Refused)) return
  // The workspace has begun to require one, or the person has removed theirs elsewhere. The shell shows it after reading again.
  if (refused.code === 'second_factor_required')
    for (const { queryKey } of [whoIsSignedIn, myOrganizations]) void queries.invalidateQueries({ queryKey })
  if (refused.code !== 'sign_in_required') return
  if (queries.getQueryData(whoIsSignedIn.queryKey) != null) return sessionHasEnded()
  queries.setQueryData(whoIsSignedIn.queryKey, null)
  void router.invalidate()
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: handleSessionError }),
  // A change may resolve what needed attention.
  mutationCache: new MutationCache({
    onError: handleSessionError,
    onSuccess: () => void queries.invalidateQueries({ queryKey: [readAttention.route] }),
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Only failures that may pass are retried. A refusal is final.
      retry: (times, refused) =>
        times < 2 && refused instanceof Refused && (refused.status === 0 || refused.status === 503),
    },
  },
})
const router = openRouter(queries)

const place = document.getElementById('root')
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <TooltipProvider delay={350}>
            <Toasts>
              <Confirmations>
                <RouterProvider router={router} />
                <SignInAgain />
              </Confirmations>
            </Toasts>
          </TooltipProvider>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  )

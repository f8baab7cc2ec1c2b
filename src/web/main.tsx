/** Starts the dashboard: queries, router, and the few things every page may use. */
import './styles.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { readAttention } from '../reading/attention/api.ts'
import { myOrganizations } from './ground/active.ts'
import { Refused } from './ground/call.ts'
import { paintTheme } from './ground/theme.ts'
import { Confirmations } from './ground/ui/confirm.tsx'
import { speakPlainly } from './ground/ui/plain-words.ts'
import { Toasts } from './ground/ui/toast.tsx'
import { TooltipProvider } from './ground/ui/tooltip.tsx'
import { whoIsSignedIn } from './people/accounts/session.ts'
import { SignInAgain, sessionHasEnded } from './people/accounts/sign-in-again.tsx'
import { openRouter } from './routes.tsx'

paintTheme()
speakPlainly()

/** While it is known whose page this is, they sign in over it; else the router leads to the sign-in page. */
function notice(refused: unknown) {
  if (!(refused instanceof Refused)) return
  // The workspace has begun to ask for one, or the person has removed theirs elsewhere: the frame tells, by what is read anew.
  if (refused.code === 'second_factor_required')
    for (const { queryKey } of [whoIsSignedIn, myOrganizations]) void queries.invalidateQueries({ queryKey })
  if (refused.code !== 'sign_in_required') return
  if (queries.getQueryData(whoIsSignedIn.queryKey) != null) return sessionHasEnded()
  queries.setQueryData(whoIsSignedIn.queryKey, null)
  void router.invalidate()
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: notice }),
  // What is changed may be what needed attention.
  mutationCache: new MutationCache({
    onError: notice,
    onSuccess: () => void queries.invalidateQueries({ queryKey: [readAttention.route] }),
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal is an answer; only what may pass by itself is asked again.
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

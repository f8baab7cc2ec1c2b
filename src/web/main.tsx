/** Starts the dashboard: queries, router, and the few things every page may use. */
import './styles.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { whoIsSignedIn } from './accounts/session.ts'
import { Refused } from './call.ts'
import { openRouter } from './routes.tsx'
import { paintTheme } from './theme.ts'
import { Confirmations } from './ui/confirm.tsx'
import { speakPlainly } from './ui/plain-words.ts'
import { notify, Toasts } from './ui/toast.tsx'
import { TooltipProvider } from './ui/tooltip.tsx'

paintTheme()
speakPlainly()

/** A session that ended elsewhere: the next look at who is signed in says nobody, and the router leads to the sign-in page. */
function notice(refused: unknown) {
  if (!(refused instanceof Refused) || refused.code !== 'sign_in_required') return
  // Several queries may come back refused; one of them tells it.
  if (queries.getQueryData(whoIsSignedIn.queryKey) != null)
    notify('Your session has ended', 'Sign in to go on here. What was not saved has to be typed again.')
  queries.setQueryData(whoIsSignedIn.queryKey, null)
  void router.invalidate()
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: notice }),
  mutationCache: new MutationCache({ onError: notice }),
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
              </Confirmations>
            </Toasts>
          </TooltipProvider>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  )

import { useQueryClient } from '@tanstack/react-query'
import type { Endpoint } from '../../../contract/endpoint.ts'

/** `const refresh = useRefresh()`, then `await refresh(listOffers, listFunnels)` reads every query of these endpoints again. */
export function useRefresh() {
  const queries = useQueryClient()
  return (...endpoints: readonly Endpoint[]): Promise<unknown> =>
    Promise.all(endpoints.map(({ route }) => queries.invalidateQueries({ queryKey: [route] })))
}

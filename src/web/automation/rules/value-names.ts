/** Names of the landings and offers that rules judge, whose values are ids. */
import { useQuery } from '@tanstack/react-query'
import { listLandings } from '../../../traffic/landings/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'

type Judged = { field: string | null; value: string | null }

/** The value of an object in words: a name, or the value itself. */
export function useValueNames(objects: readonly Judged[]): (object: Judged) => string | null {
  const has = (field: string) => objects.some(object => object.field === field)
  const query = { limit: 200 }
  const landings = useQuery({ ...ask(listLandings, { query }), enabled: has('landing') }).data?.data ?? []
  const offers = useQuery({ ...ask(listOffers, { query }), enabled: has('offer') }).data?.data ?? []
  return ({ field, value }) => {
    const known = field === 'landing' ? landings : field === 'offer' ? offers : []
    return known.find(({ id }) => id === value)?.name ?? value
  }
}

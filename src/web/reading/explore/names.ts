/** What the values of filters are called: those of objects are ids, whose names are looked up. */
import { useQueries } from '@tanstack/react-query'
import { type ExploreDimension, isObjectDimension } from '../../../contract/explore-dimensions.ts'
import { ask } from '../../ground/call.ts'
import { useCampaignNames } from '../../ground/campaign-choice.tsx'
import { listExploreValues } from '../../../reading/explore/api.ts'
import { keyInWords } from './dimensions.ts'
import type { Filter } from './search.ts'

export type Window = { readonly date_from: string; readonly date_to: string }

/** The name of a value of the filters; of an object that is not among those with most clicks, its id. */
export function useNamed(filters: readonly Filter[], window: Window) {
  const campaign = useCampaignNames()
  const asked = [...new Set(filters.map(([dimension]) => dimension))].filter(
    dimension => isObjectDimension(dimension) && dimension !== 'campaign',
  )
  const answers = useQueries({
    queries: asked.map(dimension => ({
      ...ask(listExploreValues, { query: { dimension, ...window } }),
      staleTime: Infinity,
    })),
  })
  return (dimension: ExploreDimension, value: string): string => {
    if (value === '') return '(none)'
    const known = answers[asked.findIndex(one => one === dimension)]?.data?.values.find(({ key }) => key === value)
    const label = dimension === 'campaign' ? campaign(value) : known?.label
    return keyInWords(dimension, value, label ?? value)
  }
}

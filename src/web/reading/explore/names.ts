/** The names of filter values, which are looked up for ids of objects, and the names of subs. */
import { useQueries } from '@tanstack/react-query'
import { type ExploreDimension, isObjectDimension } from '../../../contract/explore-dimensions.ts'
import { ask } from '../../ground/call.ts'
import { SUBS, type Sub } from '../../../contract/fields.ts'
import { useCampaignNames, useCampaigns } from '../../ground/campaign-choice.tsx'
import { useSources } from '../../ground/source-choice.tsx'
import { listExploreValues } from '../../../reading/explore/api.ts'
import { DIMENSION_WORDS, keyInWords } from './dimensions.ts'
import type { Words } from './level-chips.tsx'
import type { SubNames } from './presets.ts'
import type { WindowBounds } from './question.ts'
import type { Filter } from './search.ts'

/** Returns a function that names a value of the filters; an object that is not found has its id as its name. */
export function useNamed(filters: readonly Filter[], window: WindowBounds) {
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

/**
 * Returns a function for the sub names of each source whose clicks pass the filters: the sources of the campaigns or sources that the filters name, else
 * all sources of the workspace.
 */
export function useSourceNames(): (where: readonly Filter[]) => readonly SubNames[] {
  const campaigns = useCampaigns()
  const sources = useSources()
  return where => {
    const named = (dimension: ExploreDimension) =>
      where.find(([of, said]) => of === dimension && said === 'is')?.slice(2)
    const ofCampaigns = named('campaign')?.map(id => campaigns.find(one => one.id === id)?.traffic_source_id)
    const meant = ofCampaigns ?? named('source')
    return sources.filter(({ id }) => meant === undefined || meant.includes(id)).map(subNamesOf)
  }
}

const subNamesOf = ({ parameters }: ReturnType<typeof useSources>[number]): SubNames =>
  Object.fromEntries(
    SUBS.flatMap(sub => {
      const label = parameters.find(({ field }) => field === sub)?.label
      return label == null ? [] : [[sub, label]]
    }),
  )

/** The names of dimensions under these filters: a sub has its source's name where the filters name campaigns or sources and all of these agree. */
export function wordsOver(where: readonly Filter[], names: readonly SubNames[]): Words {
  const isNarrowed = where.some(([of, said]) => said === 'is' && (of === 'campaign' || of === 'source'))
  return dimension => {
    const [name, ...others] = isNarrowed ? new Set(names.map(one => one[dimension as Sub])) : []
    return name !== undefined && others.length === 0 ? `${name} (${dimension})` : DIMENSION_WORDS[dimension]
  }
}

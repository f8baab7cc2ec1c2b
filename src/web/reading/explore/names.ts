/** What the values of filters are called, where those of objects are ids whose names are looked up; and what the subs are called. */
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

/**
 * What the sources of the clicks that filters let through call their subs, a source each: of the campaigns or sources that are named, else of all
 * of the workspace.
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

/** What dimensions are called over the clicks that filters let through: a sub as the sources of these campaigns call it, where they all do. */
export function wordsOver(where: readonly Filter[], names: readonly SubNames[]): Words {
  const isNarrowed = where.some(([of, said]) => said === 'is' && (of === 'campaign' || of === 'source'))
  return dimension => {
    const [name, ...others] = isNarrowed ? new Set(names.map(one => one[dimension as Sub])) : []
    return name !== undefined && others.length === 0 ? `${name} (${dimension})` : DIMENSION_WORDS[dimension]
  }
}

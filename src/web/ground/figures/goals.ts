/** Which conversions CR and CPA count: each campaign's goal or the one chosen on the screen; and the words for it. */
import { useQuery } from '@tanstack/react-query'
import { EVENT_TYPES, type EventType } from '../../../contract/event-types.ts'
import { type FigureKey, figureOf } from '../../../contract/figures.ts'
import { readEventSettings } from '../../../traffic/event-settings/api.ts'
import { ask } from '../call.ts'
import { useCampaigns } from '../campaign-choice.tsx'
import { inWords } from '../rungs.ts'
import type { Goal } from './search.ts'

export const eventSettings = ask(readEventSettings)

export function useEventSettings() {
  return useQuery(eventSettings).data ?? { names: {}, goal: null }
}

/** The types that may be a goal, the most common first, custom ones last. */
export const GOAL_TYPES: readonly EventType[] = [
  'lead',
  'registration',
  'deposit',
  'ftd',
  ...EVENT_TYPES.filter(type => !['click', 'lead', 'registration', 'deposit', 'ftd'].includes(type)),
]

const isCustom = (type: EventType) => type.startsWith('custom_')

/** The types offered on screens. Custom types only if they have a name or are chosen. */
export function useChosenTypes(chosen: Goal | undefined): readonly EventType[] {
  const { names } = useEventSettings()
  const named: Partial<Record<string, string>> = names
  return GOAL_TYPES.filter(type => !isCustom(type) || named[type] !== undefined || type === chosen)
}

const SPOKEN = new Intl.ListFormat('en', { type: 'conjunction' })

/** Types of a goal in a heading: "FTD", "Purchase and Upsell", "4 types". */
export const typesInWords = (types: readonly string[]): string =>
  types.length > 2 ? `${types.length} types` : SPOKEN.format(types.map(inWords))

/** The meaning of a figure, with the goal it counts by on this screen. */
export function meansOf(key: FigureKey, goal: string): string {
  const { means, of } = figureOf(key)
  return of === 'goal' ? `${means} Goal: ${goal}.` : means
}

/** The name of a screen's goal: that of the campaign, or "Conversions" if campaigns differ or count what their offers pay for. */
export function useGoalWords(goal: Goal, campaign?: string): string {
  const usual = useEventSettings().goal
  const campaigns = useCampaigns()
  if (goal !== 'own') return inWords(goal)
  const types = campaign === undefined ? usual : (campaigns.find(({ id }) => id === campaign)?.goal ?? usual)
  const isMixed = campaign === undefined && campaigns.some(one => one.goal !== null)
  return types === null || isMixed ? 'Conversions' : typesInWords(types)
}

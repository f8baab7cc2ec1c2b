/** What nodes may name: the landings, offers and bots of the workspace; and a node in a few words. */
import { useQuery } from '@tanstack/react-query'
import { listBots } from '../../../telegram/bots/api.ts'
import { listLandings } from '../../../traffic/landings/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import type { WireNode } from './graph.ts'

type Choice = { readonly id: string; readonly name: string; readonly isArchived: boolean }
export type Choices = Record<'landing' | 'offer' | 'bot', readonly Choice[]>

const MOST = { query: { limit: 200 } } as const

export function useChoices(): Choices {
  const landings = useQuery(ask(listLandings, MOST)).data?.data ?? []
  const offers = useQuery(ask(listOffers, MOST)).data?.data ?? []
  const bots = useQuery(ask(listBots, MOST)).data?.data ?? []
  const named = ({ id, name, status }: { id: string; name: string; status: string }): Choice => ({
    id,
    name,
    isArchived: status === 'archived',
  })
  return {
    landing: landings.map(named),
    offer: offers.map(named),
    bot: bots.map(({ id, username }) => ({ id, name: `@${username}`, isArchived: false })),
  }
}

/** What a node does, in a few words. */
export function inShort(node: WireNode, choices: Choices): string {
  switch (node.type) {
    case 'entry':
      return 'Visitors begin here'
    case 'condition':
      return conditionInShort(node)
    case 'split':
      return 'By weight, stable for a visitor'
    case 'redirect':
      return node.url || 'No address yet'
    default: {
      const id = node[`${node.type}_id`]
      if (id == null) return `No ${node.type} chosen`
      return choices[node.type].find(choice => choice.id === id)?.name ?? id
    }
  }
}

const SIGNS = { is: 'is', contains: 'contains', starts_with: 'starts with', is_set: 'is set' } as const

function conditionInShort({ field, match, values, days, from_time, to_time, time_zone }: WireNode): string {
  if (field == null) return 'Asks nothing yet'
  if (field === 'uniqueness') return 'Is the visitor new?'
  if (field === 'bot') return 'Is it a crawler or a preview?'
  if (field === 'time') {
    const hours = from_time == null && to_time == null ? '' : `${from_time ?? '00:00'}–${to_time ?? '24:00'}`
    return [days?.join(' '), hours, time_zone || 'UTC'].filter(Boolean).join(', ')
  }
  const some = (values ?? []).slice(0, 4).join(', ')
  const more = (values?.length ?? 0) > 4 ? ` +${(values?.length ?? 0) - 4}` : ''
  return `${field} ${SIGNS[match ?? 'is']} ${match === 'is_set' ? '' : some + more}`.trim()
}

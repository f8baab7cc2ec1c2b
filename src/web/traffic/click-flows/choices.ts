/** What nodes may name: the landings, offers, bots and channels of the workspace. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { listBots } from '../../../telegram/bots/api.ts'
import { listChannels } from '../../../telegram/channels/api.ts'
import { listLandings } from '../../../traffic/landings/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'

type Choice = { readonly id: string; readonly name: string; readonly isArchived: boolean }
export type Choices = Record<'landing' | 'offer' | 'bot' | 'channel', readonly Choice[]>

const MOST = { query: { limit: 200 } } as const

export function useChoices(): Choices {
  const landings = useQuery(ask(listLandings, MOST)).data
  const offers = useQuery(ask(listOffers, MOST)).data
  const bots = useQuery(ask(listBots, MOST)).data
  const channels = useQuery(ask(listChannels, MOST)).data
  return useMemo(
    () => ({
      landing: (landings?.data ?? []).map(named),
      offer: (offers?.data ?? []).map(named),
      bot: (bots?.data ?? []).map(({ id, username }) => ({ id, name: `@${username}`, isArchived: false })),
      channel: (channels?.data ?? []).map(({ id, title }) => ({ id, name: title, isArchived: false })),
    }),
    [landings, offers, bots, channels],
  )
}

const named = ({ id, name, status }: { id: string; name: string; status: string }): Choice => ({
  id,
  name,
  isArchived: status === 'archived',
})

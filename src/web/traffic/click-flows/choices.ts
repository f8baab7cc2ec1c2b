/** The landings, offers, bots and channels of the workspace that nodes can use. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { listBots } from '../../../telegram/bots/api.ts'
import { listChannels } from '../../../telegram/channels/api.ts'
import { listLandings } from '../../../traffic/landings/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'

type Choice = { readonly id: string; readonly name: string; readonly isArchived: boolean }
export type Choices = Record<'landing' | 'offer' | 'bot' | 'channel', readonly Choice[]>

const PAGE = { query: { limit: 200 } } as const

export function useChoices(): Choices {
  const landings = useQuery(ask(listLandings, PAGE)).data
  const offers = useQuery(ask(listOffers, PAGE)).data
  const bots = useQuery(ask(listBots, PAGE)).data
  const channels = useQuery(ask(listChannels, PAGE)).data
  return useMemo(
    () => ({
      landing: (landings?.data ?? []).map(choiceOf),
      offer: (offers?.data ?? []).map(choiceOf),
      bot: (bots?.data ?? []).map(({ id, username }) => ({ id, name: `@${username}`, isArchived: false })),
      channel: (channels?.data ?? []).map(({ id, title }) => ({ id, name: title, isArchived: false })),
    }),
    [landings, offers, bots, channels],
  )
}

const choiceOf = ({ id, name, status }: { id: string; name: string; status: string }): Choice => ({
  id,
  name,
  isArchived: status === 'archived',
})

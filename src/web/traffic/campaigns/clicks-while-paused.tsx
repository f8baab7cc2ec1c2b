/** How many clicks came while a campaign was paused. They were paid for and took nobody to the destination. */
import { useQuery } from '@tanstack/react-query'
import { readClicksWhilePaused } from '../../../intake/clicks/api.ts'
import { ask } from '../../ground/call.ts'
import { count, moment } from '../../ground/figures/figures.ts'

export function ClicksWhilePaused({ campaign: { id } }: { campaign: { id: string } }) {
  const { clicks, last_at } = useQuery(ask(readClicksWhilePaused, { params: { id } })).data ?? {
    clicks: 0,
    last_at: null,
  }
  if (clicks === 0 || last_at === null) return null
  return <span>{`Clicks while paused: ${count(clicks)}, the last ${moment(last_at)}.`}</span>
}

// Today’s traffic for tests of figures.
import type { APIRequestContext } from '@playwright/test'
import { awayFromMidnight } from '../support/midnight.ts'
import { send } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

/** A campaign with four clicks today, two leads and one first deposit; revenue 60, spend 20. */
export async function seedTraffic(owner: APIRequestContext, address: string): Promise<string> {
  await awayFromMidnight()
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Casino', url: 'https://example.com/', payout: '40' })
  const campaign = await send(owner, 'POST', '/api/campaigns', {
    name: 'Broad DE',
    destination: { type: 'redirect', url: 'https://example.com/?subid={click_id}' },
    offer_id: offer.id,
  })
  const click = async (sub1: string) => {
    const query = sub1 === '' ? '' : `?sub1=${encodeURIComponent(sub1)}`
    const answer = await fetch(`${address}/c/${String(campaign['key'])}${query}`, {
      redirect: 'manual',
      headers: { 'user-agent': BROWSER },
    })
    return /subid=(\w+)/.exec(answer.headers.get('location') ?? '')?.[1]
  }
  const [first, second] = [await click('=1+1'), await click('=1+1'), await click('video-3'), await click('')]
  await send(owner, 'POST', '/api/events', { clickId: first, type: 'lead', payout: '10' })
  await send(owner, 'POST', '/api/events', { clickId: second, type: 'lead', payout: '10' })
  await send(owner, 'POST', '/api/events', { clickId: first, type: 'ftd' })
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign.id, day, amount: '20' })
  return campaign.id
}

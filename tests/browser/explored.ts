// Clicks for the specs of the Report page, through the door, and where they stand on the screen.
import type { APIRequestContext, Page } from '@playwright/test'
import { awayFromMidnight } from '../support/midnight.ts'
import { expect, send } from './dashboard.ts'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
const DESKTOP =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

/** Two campaigns of these names: one with three clicks of two zones, one of them a lead for 10; one with a click of no zone. */
export async function seedClicks(
  owner: APIRequestContext,
  address: string,
  [ofWide, ofNarrow] = ['Wide', 'Narrow'],
): Promise<{ wide: string; narrow: string }> {
  await awayFromMidnight()
  const destination = { type: 'redirect', url: 'https://example.com/?subid={click_id}' }
  const offer = await send(owner, 'POST', '/api/offers', {
    name: 'Explored',
    url: 'https://example.com/',
    payout: '10',
  })
  const wide = await send(owner, 'POST', '/api/campaigns', { name: ofWide, destination, offer_id: offer.id })
  const narrow = await send(owner, 'POST', '/api/campaigns', { name: ofNarrow, destination })
  const click = async (key: unknown, agent: string, query = '') => {
    const answer = await fetch(`${address}/c/${String(key)}${query}`, {
      redirect: 'manual',
      headers: { 'user-agent': agent },
    })
    return /subid=(\w+)/.exec(answer.headers.get('location') ?? '')?.[1]
  }
  const first = await click(wide['key'], DESKTOP, '?sub1=zone-7')
  await click(wide['key'], PHONE, '?sub1=zone-7')
  await click(wide['key'], DESKTOP, '?sub1=zone-9')
  await click(narrow['key'], PHONE)
  await send(owner, 'POST', '/api/events', { clickId: first, type: 'lead', payout: '10' })
  const today = new Date().toISOString().slice(0, 10)
  const question = {
    date_from: today,
    date_to: `${today}T23:59:59.999Z`,
    levels: [{ dimension: 'campaign' }],
    filters: [{ dimension: 'campaign', op: 'in', values: [wide.id, narrow.id] }],
    measures: ['clicks', 'lead'],
  }
  const counted = async () => (await send(owner, 'POST', '/api/explore', question))['totals']
  // Long, because the first question starts the process that scans, beside all other tests.
  await expect.poll(counted, { timeout: 120_000 }).toEqual({ clicks: 4, lead: 1 })
  return { wide: wide.id, narrow: narrow.id }
}

export const tree = (page: Page) => page.getByRole('treegrid')
export const row = (page: Page, name: string) =>
  tree(page).getByRole('row', { name: new RegExp(`(^|(Open|Close) .*)${name}`) })

/** The first figure of a row is its clicks. */
export const clicksOf = (page: Page, name: string) => row(page, name).getByRole('gridcell').first()

/** What the address says of that one campaign. */
export const only = (campaign: string) => `where=${encodeURIComponent(JSON.stringify([['campaign', 'is', campaign]]))}`

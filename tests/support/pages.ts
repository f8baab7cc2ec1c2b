// Pages that report their own visits: a campaign with sites, and what a page of such a site sends.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { toUuid } from '../../src/contract/ids.ts'
import type { TestHouse } from './house.ts'
import type { SignedIn } from './people.ts'
import { BROWSER } from './visits.ts'

export const SITE = 'https://shop.example'

/** A page token as the script makes it. */
export const pageToken = (): string => randomBytes(16).toString('base64url')

/** What the pages of an organization do; `owner` makes its campaigns. */
export function pagesOf(house: TestHouse, owner: SignedIn) {
  const page = { ...BROWSER, origin: SITE }
  return {
    /** A campaign of an offer with these fields, and the site of `SITE`. */
    async campaign(fields: object = {}): Promise<{ id: string; key: string; offer_id: string }> {
      const offer = await house.call('POST', '/api/offers', {
        ...owner,
        body: { name: 'O', url: 'https://offer.example/?c={click_id}&s={sub1}', payout: '40' },
      })
      const offer_id = String(offer.data()['id'])
      const made = await house.call('POST', '/api/campaigns', {
        ...owner,
        body: { name: 'C', sites: ['shop.example'], destination: { type: 'offer', offer_id }, ...fields },
      })
      assert.equal(made.statusCode, 201, `${offer.body} ${made.body}`)
      const { id, key } = made.data() as { id: string; key: string }
      return { id, key, offer_id }
    },
    /** The script's report of a visit. */
    report(key: string, body: object, headers: Record<string, string> = {}, from?: string) {
      return house.call('POST', `/v/${key}`, {
        payload: JSON.stringify({ t: pageToken(), ...body }),
        headers: { ...page, 'content-type': 'text/plain', ...headers },
        ...(from === undefined ? {} : { from }),
      })
    },
    get: (url: string, headers: Record<string, string> = {}) =>
      house.call('GET', url, { headers: { ...BROWSER, ...headers } }),
  }
}

/** The clicks of a campaign, oldest first. */
export async function clicksOf(house: TestHouse, campaign_id: string) {
  const { rows } = await house.database.reads.query<Record<string, unknown> & { id: string; tracked: boolean }>(
    'select * from clicks where campaign_id = $1 order by id',
    [toUuid(campaign_id)],
  )
  return rows
}

/** Test visits: what marks a visit as its owner's trial of a campaign. Its click counts nowhere, and never will. */
import { timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../ground/db/secrets.ts'

/** The query parameter that marks a visit as a test. */
export const TEST_PARAMETER = 'sluice_test'

/** The value of `sluice_test` for a campaign. Only the dashboard shows it, so that no traffic source can keep its clicks out of the counts. */
export function testToken(secrets: Pick<Secrets, 'mac'>, campaign_id: string): string {
  return secrets.mac('test click', campaign_id).toString('hex').slice(0, 24)
}

/** Whether the visited URL carries the campaign's test token. */
export function isTestVisit(secrets: Pick<Secrets, 'mac'>, campaign_id: string, url: string): boolean {
  const at = url.indexOf(`${TEST_PARAMETER}=`)
  if (at < 0) return false
  const sent = Buffer.from(url.slice(at + TEST_PARAMETER.length + 1).split(/[&#]/, 1)[0] ?? '')
  const right = Buffer.from(testToken(secrets, campaign_id))
  return sent.length === right.length && timingSafeEqual(sent, right)
}

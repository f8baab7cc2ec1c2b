/** The test link of a campaign. Reads `campaigns`. */
import type { Call } from '../../contract/endpoint.ts'
import { refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { domainAddresses } from '../../traffic/domains/addresses.ts'
import type * as api from './api.ts'
import { TEST_PARAMETER, testToken } from './test-visits.ts'

/** The campaign link with the token that makes its clicks test clicks. Refuses `object_not_found`. */
export async function readTestLink(
  { db, actor, secrets, origin }: Context<typeof api.readTestLink>,
  { params }: Call<typeof api.readTestLink>,
) {
  const id = idOf(params.id)
  const campaign = await db
    .selectFrom('campaigns')
    .select(['key', 'domain_id'])
    .where('org_id', '=', actor.org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (campaign === undefined) refuse('object_not_found')
  const address = (await domainAddresses(db, actor.org_id))(campaign.domain_id)
  return { url: `${address?.origin ?? origin ?? ''}/c/${campaign.key}?${TEST_PARAMETER}=${testToken(secrets, id)}` }
}

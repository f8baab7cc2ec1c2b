// What clicks have cost, told to caps: what one of them cannot take is nobody else's affair.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { capsAs } from '../../../tests/support/caps.ts'
import { startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { awayFromMidnight } from '../../../tests/support/midnight.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { toUuid } from '../../contract/ids.ts'
import type { LiveCap } from '../campaigns/live.ts'
import { openSpending } from './spending.ts'

let house: TestHouse
before(async () => {
  await awayFromMidnight()
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

/** A cap on cost in an organization of its own, as the redirect knows it. */
async function costCap() {
  const owner = await seedSignedIn(house)
  const at = capsAs(house, owner)
  const { id } = await at.cap((await at.offer()).id, { metric: 'cost', limit: 1, period: 'total' })
  const live = { id: toUuid(id) ?? '', org_id: owner.org_id, period: 'total', timezone: 'UTC' }
  return { live: live as unknown as LiveCap, read: () => at.read(id) }
}

test('a cap counts up to what its count holds, and one that cannot be written keeps none of another organization from it', async () => {
  const [full, gone, other] = [await costCap(), await costCap(), await costCap()]
  await house.database.worker.query('update cap_counts set used = 2147483647 where org_id = $1', [full.live.org_id])
  await house.database.worker.query('delete from balances where org_id = $1', [gone.live.org_id])
  const spending = openSpending(house.ground)
  for (const { live } of [full, gone, other]) spending.note([live], '2', Date.now())
  await spending.close()
  assert.deepEqual([(await other.read()).state, (await other.read()).used], ['reached', 2])
  assert.equal((await full.read()).state, 'reached')
})

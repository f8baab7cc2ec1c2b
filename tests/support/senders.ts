// Organizations that report conversions: each with a key of its own, and with a click to report them on.
import { seedKey, seedOrganization, type TestHouse, toWireId } from './house.ts'
import { type SeededClick, seedClick } from './intake.ts'

/** Who reports, and by which key. */
export type Sender = { org_id: number; organization_id: string; user_id: string; key: string }

/** A new organization with a key that holds `events`, restricted to `campaigns` where given. */
export async function seedSender(
  { database }: TestHouse,
  { campaigns, ...of }: { campaigns?: string[]; balance?: string } = {},
): Promise<Sender> {
  const organization = await seedOrganization(database, of)
  const restriction = campaigns === undefined ? {} : { campaigns }
  const { secret } = await seedKey(database, organization, { rights: ['events'], ...restriction })
  return { ...organization, key: secret }
}

/** The same with a click; `clickId` is its id on the wire. */
export async function seedSenderWithClick(
  house: TestHouse,
  click: SeededClick = {},
): Promise<Sender & { click_id: string; clickId: string }> {
  const sender = await seedSender(house)
  const click_id = await seedClick(house.database, sender.org_id, click)
  return { ...sender, click_id, clickId: toWireId(click_id) }
}

// Organizations that report conversions, each with its own key and a click.
import { seedKey, seedOrganization, type TestHouse, toWireId } from './house.ts'
import { type ClickFields, seedClick } from './intake.ts'

/** The organization that reports, and its key. */
export type Sender = { org_id: number; organization_id: string; user_id: string; key: string }

/** A new organization with a key that has the right `events`, restricted to `campaigns` if given. */
export async function seedSender(
  { database }: TestHouse,
  { campaigns, ...of }: { campaigns?: string[]; balance?: string } = {},
): Promise<Sender> {
  const organization = await seedOrganization(database, of)
  const restriction = campaigns === undefined ? {} : { campaigns }
  const { secret } = await seedKey(database, organization, { rights: ['events'], ...restriction })
  return { ...organization, key: secret }
}

/** The same with a click; `clickId` is its id in the API's form. */
export async function seedSenderWithClick(
  house: TestHouse,
  click: ClickFields = {},
): Promise<Sender & { click_id: string; clickId: string }> {
  const sender = await seedSender(house)
  const click_id = await seedClick(house.database, sender.org_id, click)
  return { ...sender, click_id, clickId: toWireId(click_id) }
}

// Stores which clicks got a shared link, together with the clicks. A click's own link is a column of the click.
import { timeOfId } from '../../contract/ids.ts'
import type { Statement } from '../../ground/db/statement.ts'

/** The link that a click shares with others of its campaign. A journal stores it in the click's line. */
export type SharedLink = { readonly link_id: string; readonly channel_id: string }

type Given = { readonly org_id: number; readonly id: string; readonly shared?: SharedLink | undefined }

const SHARED = `
  insert into shared_grants (org_id, link_id, channel_id, click_id, granted_at)
  select g.org_id, g.link_id, g.channel_id, g.click_id, to_timestamp(g.ms / 1000.0)
  from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[]) as g (org_id, link_id, channel_id, click_id, ms)
  on conflict do nothing`

/** The statement for a batch of clicks; undefined if none has a shared link, as usual. Existing rows stay unchanged. */
export function sharedStatement(clicks: readonly Given[]): Statement | undefined {
  let some: Given[] | undefined
  for (const click of clicks) if (click.shared !== undefined) (some ??= []).push(click)
  if (some === undefined) return undefined
  return {
    text: SHARED,
    values: [
      some.map(({ org_id }) => org_id),
      some.map(({ shared }) => shared?.link_id ?? null),
      some.map(({ shared }) => shared?.channel_id ?? null),
      some.map(({ id }) => id),
      some.map(({ id }) => timeOfId(id)),
    ],
  }
}

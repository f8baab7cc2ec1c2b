// What is written of links together with the clicks they were given to.
import { timeOfId } from '../../contract/ids.ts'
import type { Statement } from '../../ground/db/statement.ts'

/** What a click was given: a link of its own, or the one its campaign shares. It stands in the click's line of a journal. */
export type Granted = { readonly link_id: string; readonly channel_id: string; readonly is_shared?: true }

type Given = { readonly org_id: number; readonly id: string; readonly granted?: Granted | undefined }

const OWN = `
  insert into link_grants (org_id, link_id, channel_id, click_id, granted_at)
  select g.org_id, g.link_id, g.channel_id, g.click_id, to_timestamp(g.ms / 1000.0)
  from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[]) as g (org_id, link_id, channel_id, click_id, ms)`
const SHARED = OWN.replace('link_grants', 'shared_grants')
/** For what may be there already: it costs the database more. */
const UNLESS_THERE = ' on conflict do nothing'

type Statements = { readonly own: Statement | undefined; readonly shared: Statement | undefined }

/**
 * The statements for a batch of clicks, of which hardly any has one. `areNew`: none of them was stored before, as those of a journal or of a batch
 * that is tried again may be.
 */
export function grantStatements(clicks: readonly Given[], areNew: boolean): Statements {
  let some: Given[] | undefined
  for (const click of clicks) if (click.granted !== undefined) (some ??= []).push(click)
  if (some === undefined) return NONE
  return {
    own: statementOf(
      areNew ? OWN : OWN + UNLESS_THERE,
      some.filter(({ granted }) => granted?.is_shared !== true),
    ),
    shared: statementOf(
      areNew ? SHARED : SHARED + UNLESS_THERE,
      some.filter(({ granted }) => granted?.is_shared === true),
    ),
  }
}

const NONE = { own: undefined, shared: undefined }

function statementOf(text: string, clicks: readonly Given[]): Statement | undefined {
  if (clicks.length === 0) return undefined
  return {
    text,
    values: [
      clicks.map(({ org_id }) => org_id),
      clicks.map(({ granted }) => granted?.link_id ?? null),
      clicks.map(({ granted }) => granted?.channel_id ?? null),
      clicks.map(({ id }) => id),
      clicks.map(({ id }) => timeOfId(id)),
    ],
  }
}

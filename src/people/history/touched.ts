/** The objects that a write may change: the one that its endpoint is about, and others that change with it. */
import { type Kysely, sql } from 'kysely'
import type { HistoryKind } from '../../contract/history.ts'
import { toUuid } from '../../contract/ids.ts'
import { cut, TEXT_BYTES } from '../../contract/texts.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { HistoryObject } from '../../ground/history/record.ts'
import { spendObject } from '../../money/ad-spend/history.ts'

/** A call, and what its deed returned once it has. */
export type Write = {
  readonly params: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>> | undefined
  readonly organization_id: string
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The object that the endpoint is about; undefined while a new object has no id. */
export function mainObject(kind: HistoryKind, { params, body, result, organization_id }: Write): HistoryObject[] {
  if (kind === 'billing' || kind === 'event_settings' || kind === 'alert_settings')
    return [{ kind, id: organization_id }]
  if (kind === 'rate') return [{ kind, id: null, name: (params['currency'] ?? '').trim().toUpperCase() }]
  if (kind === 'ad_spend') {
    const sub1 = cut(text(body['sub1']) ?? '', TEXT_BYTES)
    return [spendObject({ campaign_id: text(body['campaign_id']) ?? '', day: text(body['day']) ?? '', sub1 })]
  }
  const made = kind === 'spread' ? (result?.['spread'] as Write['result'] | null) : result
  const own = kind === 'organization' ? organization_id : undefined
  const id = params['id'] === undefined ? (text(made?.['id']) ?? own) : toUuid(params['id'])
  return id === undefined ? [] : [{ kind, id }]
}

/** Other objects that the write may change, read before it. */
export async function alsoTouched(
  db: Kysely<Tables>,
  org_id: number,
  kind: HistoryKind,
  { params, body }: Write,
): Promise<HistoryObject[]> {
  const of = (what: HistoryKind, { rows }: { rows: readonly { id: string }[] }) =>
    rows.map(({ id }) => ({ kind: what, id }))
  if (kind === 'view' && body['is_start_page'] === true)
    return of(
      kind,
      await sql<{ id: string }>`
      select id from explore_views where org_id = ${org_id} and is_start_page`.execute(db),
    )
  if (kind === 'domain' && body['is_default'] === true)
    return of(
      kind,
      await sql<{ id: string }>`
      select id from domains where org_id = ${org_id} and is_default and deleted_at is null`.execute(db),
    )
  if (kind === 'member')
    return of(
      'invitation',
      await sql<{ id: string }>`
      select i.id from invitations i join members m on m.org_id = i.org_id and m.user_id = i.invited_by
      where i.org_id = ${org_id} and m.org_id = ${org_id} and m.id = ${toUuid(params['id'] ?? '') ?? null}
        and i.accepted_at is null and i.withdrawn_at is null`.execute(db),
    )
  return []
}

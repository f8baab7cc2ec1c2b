/**
 * The lane of ad accounts: finds the accounts that have due deliveries, and composes the calls to their platforms. Deliveries of a broken account
 * wait until it works again; those of an account that is off or deleted are skipped. Changes accounts only by `breakAccount`.
 */
import type pg from 'pg'
import { boundsOf } from '../../contract/ids.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import type { Config } from '../../ground/config.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import type { ComposedDelivery, Judgement, Lane, DeliveryTarget } from '../deliveries/lane.ts'
import { breakAccount, nameAccount } from './breaking.ts'
import { PLATFORM_CLICK_COLUMNS, type ConversionRow, conversionOf, JOIN_PAGE } from './conversion.ts'
import { openGoogleTokens } from './google-token.ts'
import type { PlatformAccess } from './adapter.ts'
import { type ReportingAccount, reportingCall } from './platforms.ts'
import { whyNotRestated } from './restating.ts'

// One lookup in the index of due deliveries per account, however long its queue is.
const FIND_TARGETS = (among: Among) => `
  select a.org_id, a.id as target_id, a.platform
  from ad_accounts a
  cross join lateral (
    select 1 from deliveries d
    where d.org_id = a.org_id and d.kind = 'ad_account' and d.target_id = a.id and d.state = 'pending' and d.run_at <= now()${among('d.org_id')}
    limit 1
  ) due
  where (a.state <> 'broken' or a.deleted_at is not null)${among('a.org_id')}`

// The limits force lookups by primary key: without them the planner may read all deliveries of an account.
const READ = `
  select d.id, d.target_id, d.seq, v.status, coalesce(v.amount > 0, false) as is_worth, f.state as first_state, f.is_under_way, a.restate, a.platform, a.settings, a.event_map, a.credential, a.state, a.deleted_at is not null as is_deleted,
    e.id as event_id, e.type,
    case when v.status = 'approved' then nullif(v.amount, 0) else e.payout end as payout, e.person_id, e.source, e.payload -> 'email' as email, e.payload -> 'phone' as phone,
    floor(extract(epoch from e.created_at) * 1000)::float8 as happened_ms, ${PLATFORM_CLICK_COLUMNS}
  from unnest($2::uuid[]) as due (id)
  cross join lateral (select * from deliveries where org_id = $1 and id = due.id limit 1) d
  cross join lateral (select * from ad_accounts where org_id = $1 and id = d.target_id limit 1) a
  cross join lateral (select * from events where org_id = $1 and id = d.event_id limit 1) e
  left join lateral (
    select status, amount from event_revisions where org_id = $1 and event_id = d.event_id order by seq desc limit 1
  ) v on true
  left join lateral (
    select state, coalesce(lease_until > now(), false) as is_under_way from deliveries
    where org_id = $1 and event_id = d.event_id and kind = 'ad_account' and target_id = d.target_id and seq = 0 and d.seq > 0
    limit 1
  ) f on true
  left join lateral (select * from clicks where org_id = $1 and id = d.click_id and id between $3 and $4 limit 1) c on true${JOIN_PAGE}`

type AdDeliveryRow = ConversionRow &
  ReportingAccount &
  RevisionState & { id: string; target_id: string; credential: Buffer; state: string; is_deleted: boolean }

/** For a delivery of a revision (`seq` is not 0): the conversion's current status, and the state of its first delivery. */
type RevisionState = {
  seq: number
  status: EventStatus | null
  is_worth: boolean
  restate: boolean | null
  first_state: string | null
  is_under_way: boolean | null
}

type LaneGround = {
  readonly config: PlatformAccess['config'] & Pick<Config, 'googleTokenUrl'>
  readonly secrets: Pick<Secrets, 'open'>
}

/** The lane of all platforms. Each platform's adapter builds the call and judges the answer. */
export function adAccountLane({ config, secrets }: LaneGround): Lane {
  const access = { config, tokens: openGoogleTokens(config.googleTokenUrl) }
  // The refused credential per account: a refusal must not break an account whose credential was replaced meanwhile.
  const refused = new Map<string, Buffer>()
  const rememberRefused = (row: AdDeliveryRow, { outcome }: Judgement): void => {
    if (outcome === 'broken') refused.set(row.target_id, row.credential)
  }
  return {
    kind: 'ad_account',
    async findTargets(pool: pg.Pool): Promise<DeliveryTarget[]> {
      const { rows } = await askEverywhere<{ org_id: number; target_id: string; platform: string }>(pool, FIND_TARGETS)
      return rows.map(({ org_id, target_id, platform }) => ({ org_id, target_id, origin: `${platform} ${target_id}` }))
    },
    async compose(client, org_id, due) {
      const [ids, clicks] = [due.map(({ id }) => id), due.map(({ click_id }) => click_id)]
      const { rows } = await client.query<AdDeliveryRow>(READ, [org_id, ids, ...boundsOf(clicks)])
      return rows.map(row => compose(row, { secrets, access, rememberRefused }))
    },
    async switchOff(client, org_id, target_id, reason) {
      await breakAccount(client, org_id, target_id, reason, refused.get(target_id))
      refused.delete(target_id)
    },
    nameTarget: (client, org_id, target_id) => nameAccount(client, org_id, target_id, refused.get(target_id)),
  }
}

type Composing = Pick<LaneGround, 'secrets'> & {
  readonly access: PlatformAccess
  readonly rememberRefused: (row: AdDeliveryRow, judgement: Judgement) => void
}

function compose(row: AdDeliveryRow, { secrets, access, rememberRefused }: Composing): ComposedDelivery {
  const { id } = row
  if (row.is_deleted) return { id, skip: 'the ad account was disconnected' }
  if (row.state === 'off') return { id, skip: 'the ad account is switched off' }
  const why = row.seq === 0 ? undefined : whyNotReported(row)
  if (why !== undefined) return { id, skip: why }
  const website_url = 'website_url' in row.settings ? row.settings.website_url : null
  const conversion = conversionOf(row, website_url, secrets)
  const credential = openCredential(row.credential, secrets)
  if (credential === undefined) return { id, skip: 'the credential of the ad account cannot be read' }
  const onJudgement = (judgement: Judgement) => rememberRefused(row, judgement)
  const composed = reportingCall(row, credential, conversion, { access, now: Date.now(), onJudgement })
  // Otherwise the first call could arrive after this one and restore the old amount.
  if ('call' in composed && row.is_under_way === true) return { id, call: { ...composed.call, complete: retryLater } }
  return { id, ...composed }
}

const retryLater = async (): Promise<Judgement> => ({
  outcome: 'retry',
  reason: 'the first report of the conversion is still being sent',
})

/** A delivery reports the amount at the time it is sent, so a first delivery that still waits will report the new one. */
function whyNotReported({
  platform,
  restate,
  status,
  is_worth,
  first_state,
  is_under_way,
}: AdDeliveryRow): string | undefined {
  const why = whyNotRestated({ platform, restate }, { status: status ?? 'approved', isWorth: is_worth })
  if (why !== undefined || first_state === 'delivered') return why
  if (first_state === 'pending' || first_state === 'held')
    return is_under_way === true ? undefined : 'the conversion is not reported yet, and will be with this amount'
  return 'the conversion was not reported'
}

/** Opens the credential; undefined if it is damaged, which must not fail the other deliveries claimed with it. */
function openCredential(encrypted: Buffer, secrets: Pick<Secrets, 'open'>): string | undefined {
  try {
    return secrets.open(encrypted)
  } catch {
    return undefined
  }
}

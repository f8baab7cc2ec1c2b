/** The delivery targets of an organization: postback rules and ad accounts, as a batch reads them. */
import type { AdPlatform } from '../../contract/ad-platforms.ts'

export type Rule = {
  id: string
  event_type: string
  campaign_id: string | null
  traffic_source_id: string | null
  once_per_person: boolean
  /** The status it calls on; null: when a conversion is recorded. */
  told_on: string | null
}
/** An ad account that is not switched off; `sends` are the event types it takes. */
export type Account = {
  id: string
  platform: AdPlatform
  sends: string[]
  send_when: string | null
  restate: boolean | null
}

/** A row of `READ_TARGETS`. */
export type TargetRow = { id: string } & (
  | (Omit<Rule, 'id'> & { platform: null; sends: null; send_when: null; restate: null })
  | (Omit<Account, 'id'> & { event_type: null; campaign_id: null; traffic_source_id: null; told_on: null })
)

type Targets = { readonly rules: Rule[]; readonly accounts: Account[] }

/** Adds a row to the rules or to the accounts. */
export function addTarget(targets: Targets | undefined, { id, ...row }: TargetRow): void {
  if (row.platform !== null) {
    const { platform, sends, send_when, restate } = row
    targets?.accounts.push({ id, platform, sends, send_when, restate })
  } else {
    const { event_type, campaign_id, traffic_source_id, once_per_person, told_on } = row
    targets?.rules.push({ id, event_type, campaign_id, traffic_source_id, once_per_person, told_on })
  }
}

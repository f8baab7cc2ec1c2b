/** What is typed into the forms of a spend account, and the parts of a request that it comes to. */
import type { z } from 'zod'
import type {
  SpendAccount,
  SpendAccountChanges,
  SpendAccountDraft,
  SpendAccountRead,
} from '../../../money/spend-accounts/api.ts'

export type Account = z.input<typeof SpendAccount>
export type AccountRead = z.input<typeof SpendAccountRead>
export type Draft = z.input<typeof SpendAccountDraft>
export type Changes = z.input<typeof SpendAccountChanges>

export type Typed = {
  provider: Account['provider']
  external_id: string
  name: string
  access_token: string
  /** Whether clicks say whose the spend is, or the account is one campaign's. */
  owner: 'clicks' | 'campaign'
  level: Account['level']
  id_in: string
  campaign_id: string
}

/** Of an account as it is, or of a new one. The token is never there. */
export function typedOf(account?: Account): Typed {
  return {
    provider: account?.provider ?? 'meta',
    external_id: account?.external_id ?? '',
    name: account?.name ?? '',
    access_token: '',
    owner: account?.campaign_id == null ? 'clicks' : 'campaign',
    level: account?.level ?? 'ad',
    id_in: account?.id_in ?? 'sub1',
    campaign_id: account?.campaign_id ?? '',
  }
}

/** Whose the spend is, as a request says it. */
export const ownerOf = ({ owner, level, id_in, campaign_id }: Typed): object =>
  owner === 'clicks' ? { level, id_in, campaign_id: null } : { level, id_in: null, campaign_id }

export type Faults = Partial<Record<keyof Typed, string>>

/** Each field's first complaint. */
export function faultsOf({ issues }: z.ZodError): Faults {
  const faults: Faults = {}
  for (const { path, message } of issues) faults[path.at(-1) as keyof Typed] ??= message
  return faults
}

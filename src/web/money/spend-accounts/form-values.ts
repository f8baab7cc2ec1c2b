/** The values of a spend account's forms, and the request fields made from them. */
import type { z } from 'zod'
import type {
  SpendAccount,
  SpendAccountChanges,
  SpendAccountDraft,
  SpendAccountRead,
} from '../../../money/spend-accounts/api.ts'

export type SpendAccountRow = z.input<typeof SpendAccount>
export type SpendAccountDetail = z.input<typeof SpendAccountRead>
export type SpendAccountRequest = z.input<typeof SpendAccountDraft>
export type SpendAccountPatch = z.input<typeof SpendAccountChanges>

export type SpendAccountForm = {
  provider: SpendAccountRow['provider']
  external_id: string
  name: string
  access_token: string
  /** Spend goes to the campaigns of matching clicks, or all of it to one campaign. */
  owner: 'clicks' | 'campaign'
  level: SpendAccountRow['level']
  id_in: string
  campaign_id: string
}

/** The form values of an existing account, or of a new one. The token is never filled in. */
export function spendAccountFormOf(account?: SpendAccountRow): SpendAccountForm {
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

/** The request fields that assign the spend to campaigns. */
export const assignmentOf = ({ owner, level, id_in, campaign_id }: SpendAccountForm): object =>
  owner === 'clicks' ? { level, id_in, campaign_id: null } : { level, id_in: null, campaign_id }

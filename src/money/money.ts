/** Puts the rooms of money together for `house.ts`. */
import { room } from '../ground/room.ts'
import type { OpenPart } from '../ground/running.ts'
import * as adSpend from './ad-spend/ad-spend.ts'
import * as adSpendApi from './ad-spend/api.ts'
import * as spendImport from './ad-spend/import.ts'
import { type ClickCounts, spreadDeeds } from './ad-spend/spreads.ts'
import * as billingApi from './billing/api.ts'
import * as billing from './billing/billing.ts'
import * as lowBalance from './billing/low-balance.ts'
import * as ratesApi from './rates/api.ts'
import { openRateFetch } from './rates/fetch.ts'
import * as rates from './rates/rates.ts'
import * as spendAccountsApi from './spend-accounts/api.ts'
import * as spendAccounts from './spend-accounts/spend-accounts.ts'
import { openSpendSync } from './spend-accounts/worker.ts'

/** The endpoints. Spend is spread over the clicks that a wing above reads. */
export const moneyRooms = (clicks: ClickCounts) => [
  ...room(billingApi, { ...billing, ...lowBalance }),
  ...room(ratesApi, rates),
  ...room(adSpendApi, { ...adSpend, ...adSpend.entryDeeds(clicks.hasClicks), ...spendImport, ...spreadDeeds(clicks) }),
  ...room(spendAccountsApi, spendAccounts),
]

/** The periodic jobs, which do not run with ROLE=serve. */
export const MONEY_JOBS: readonly OpenPart[] = [lowBalance.openLowBalanceWatch, openRateFetch, openSpendSync]

// The stage of a soak: a whole Sluice on a ground of its own with one organization, its receivers of postbacks, and fakes of Telegram, of an ad
// platform and of the banks with currency rates.
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, dayOf } from '../../src/contract/days.ts'
import { startRates } from '../../tests/support/rates-fake.ts'
import { adHour, META, startPlatforms, TOKEN } from '../../tests/support/spend-accounts.ts'
import { startTelegram, type TelegramFake } from '../../tests/support/telegram-fake/telegram-fake.ts'
import { addBot } from '../broadcasts.ts'
import type { Child } from '../children.ts'
import { signIn } from '../explore.ts'
import { type BenchGround, openGround } from '../ground.ts'
import { createOrganization, createOwner, type Organization } from '../organizations.ts'
import { addRules, type SoakReceiver, startReceivers } from './receivers.ts'
import { openSession, type Session } from './session.ts'
import type { SoakTerms } from './terms.ts'

const CAMPAIGNS = 12
const OFFERS = 6
/** A new account is read for the last thirty days. */
const DAYS_OF_RATES = 40
/** The rates are fetched within seconds. */
const READ_MS = 60_000

/** `spends` raises the spend at the ad platform by a euro for each ad set, and forgets the calls of all fakes of reports. */
export type Stage = {
  ground: BenchGround
  server: Child
  organization: Organization
  session: Session
  receivers: readonly SoakReceiver[]
  telegram: TelegramFake
  bot_id: string
  account_id: string
  spends: () => void
}

export async function setStage(open: AsyncDisposableStack, terms: SoakTerms): Promise<Stage> {
  const ground = await openGround()
  open.defer(() => ground.close())
  const receivers = await startReceivers()
  for (const receiver of receivers) open.defer(() => receiver.close())
  const telegram = await startTelegram()
  open.defer(() => telegram.close())
  const owner = await createOwner(ground)
  const healthy = receivers.find(({ name }) => name === 'healthy')?.origin ?? ''
  const wide = { campaigns: CAMPAIGNS, offers: OFFERS, postback: `${healthy}/postback` }
  const organization = await createOrganization(ground, owner, wide)
  await addRules(ground, organization, receivers)
  const { recipients } = terms
  const bot_id = await addBot(ground, telegram, telegram.bot(), { org_id: organization.org_id, recipients })
  const { env, spends } = await startReports(open)
  const server = await ground.serve('all', { TELEGRAM_API_ROOT: telegram.origin, ...env })
  open.defer(() => server.stop())
  const session = openSession(server, await signIn(ground, owner))
  open.defer(() => session.close())
  const account_id = await connectAccount(session)
  return { ground, server, organization, session, receivers, telegram, bot_id, account_id, spends }
}

/** The fakes of the ad platform and of the banks. The account is in euros, so that Sluice needs rates. */
async function startReports(open: AsyncDisposableStack) {
  const platforms = await startPlatforms()
  open.defer(async () => void (await platforms.close()))
  platforms.books.accounts[META] = { timezone: 'UTC', currency: 'EUR' }
  const now = Date.now()
  const days = Array.from({ length: DAYS_OF_RATES }, (_, ago) => dayOf(now - ago * DAY_MS))
  const rates = await startRates(
    Object.fromEntries(days.map(day => [day, { USD: '1.1', GBP: '0.85', RUB: '95' }])),
    Object.fromEntries(days.map(day => [day, { USD: [1, '86.4'], EUR: [1, '95'] }])),
  )
  open.defer(() => rates.close())
  // The clicks of the load name seven ad sets in sub2.
  const spent = Array.from({ length: 7 }, (_, n) => adHour(dayOf(now), 0, `ad-${n}`, '1', { adset: `adset-${n}` }))
  platforms.books.hours.push(...spent)
  return {
    env: { ...platforms.env, FX_SOURCES: 'ecb,cbr', ECB_BASE: rates.origin, CBR_BASE: rates.origin },
    spends: () => {
      for (const hour of spent) hour.amount = String(Number(hour.amount) + 1)
      platforms.meta.calls.length = 0
      platforms.meta.taken.length = 0
      rates.calls.length = 0
    },
  }
}

/** Connects the account, and has it read until Sluice has the rates for it. Returns its id. */
async function connectAccount(session: Session): Promise<string> {
  const account = { provider: 'meta', name: 'Soak', external_id: META, access_token: TOKEN }
  const draft = { ...account, id_in: 'sub2', level: 'adset' }
  const id = String((await session.call('POST', '/api/spend-accounts', draft))['id'])
  for (const deadline = performance.now() + READ_MS; ; await sleep(500)) {
    const { synced_at, is_syncing, fault } = await session.call('GET', `/api/spend-accounts/${id}`)
    if (synced_at !== null && fault === null) return id
    if (performance.now() > deadline) throw new Error(`the ad account is not read: ${JSON.stringify(fault)}`)
    if (is_syncing !== true) await session.call('POST', `/api/spend-accounts/${id}/sync`, {})
  }
}

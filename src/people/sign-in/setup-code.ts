/**
 * The setup code of the first owner. An installation that others can reach must not belong to the first visitor, so creating the first
 * account needs a code that Sluice writes to its log at the start. The code is derived from SECRET and the database, so every process
 * shows and accepts the same one and nothing is stored. Once there is an account it has no effect.
 */
import { timingSafeEqual } from 'node:crypto'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { isLoopbackHost, networkOf } from '../../ground/network.ts'
import type { Ground, Visit } from '../../ground/room.ts'
import { toCodeLetters, normalizeCode } from '../second-factor/recovery-codes.ts'
import type { SignInContext } from './library-calls.ts'
import { needsOwner } from './sign-up.ts'

/** Whether the first account needs the code, which is when BASE_URL is not on this machine itself. */
export const hasSetupCode = ({ baseUrl }: Pick<Config, 'baseUrl'>): boolean =>
  baseUrl !== undefined && !isLoopbackHost(new URL(baseUrl).host)

/** 10 letters of 5 bits each. */
const CODE_LETTERS = 10

const setupCode = ({ mac, clickKey }: Pick<Secrets, 'mac' | 'clickKey'>): string =>
  normalizeCode(toCodeLetters(mac('setup code', clickKey.toString('hex')).subarray(0, CODE_LETTERS)))

/** The log line with the setup code. Undefined when no code is needed. */
export async function setupLine({
  config,
  db,
  secrets,
}: Pick<Ground, 'db' | 'secrets'> & { config: Pick<Config, 'baseUrl'> }): Promise<string | undefined> {
  if (!hasSetupCode(config) || !(await needsOwner(db))) return undefined
  return `Sluice has no owner yet. Open ${config.baseUrl}/setup and enter the setup code ${setupCode(secrets)}`
}

/**
 * Checks the setup code if this is the first account and it needs one. A wrong code counts like a wrong password. Refuses
 * `setup_code_wrong` and `rate_limited`.
 */
export async function requireSetupCode(
  { ground: { config, db, secrets }, attempts }: SignInContext,
  { ip }: Visit,
  typed: string | undefined,
): Promise<void> {
  if (!hasSetupCode(config) || !(await needsOwner(db))) return
  const counted = await attempts.count('password', networkOf(ip))
  const [given, expected] = [Buffer.from(normalizeCode(typed ?? '')), Buffer.from(setupCode(secrets))]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) refuse('setup_code_wrong')
  await counted.forgive()
}

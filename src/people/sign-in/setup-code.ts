/**
 * The code of the first owner. An installation that others can reach must not belong to whoever opens it first: while it has no account,
 * the first one needs a code that Sluice shows where it was started. The code is derived from SECRET and from the database, so that every
 * process shows and takes the same one and nothing is stored. It is of no use once there is an account.
 */
import { timingSafeEqual } from 'node:crypto'
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import type { Secrets } from '../../ground/db/secrets.ts'
import { isLoopbackHost, networkOf } from '../../ground/network.ts'
import type { Ground, Visit } from '../../ground/room.ts'
import { lettersOf, spelled } from '../second-factor/recovery-codes.ts'
import type { Desk } from './library-calls.ts'
import { needsOwner } from './sign-up.ts'

/** Whether the first account needs the code: where BASE_URL is not this machine itself. */
export const hasSetupCode = ({ baseUrl }: Pick<Config, 'baseUrl'>): boolean =>
  baseUrl !== undefined && !isLoopbackHost(new URL(baseUrl).host)

/** Of 5 bits each. */
const CODE_LETTERS = 10

const setupCode = ({ mac, clickKey }: Pick<Secrets, 'mac' | 'clickKey'>): string =>
  spelled(lettersOf(mac('setup code', clickKey.toString('hex')).subarray(0, CODE_LETTERS)))

/** The line for whoever starts Sluice, while the code is asked for; else undefined. */
export async function setupLine({
  config,
  db,
  secrets,
}: Pick<Ground, 'db' | 'secrets'> & { config: Pick<Config, 'baseUrl'> }): Promise<string | undefined> {
  if (!hasSetupCode(config) || !(await needsOwner(db))) return undefined
  return `Sluice has no owner yet. Open ${config.baseUrl}/setup and enter the setup code ${setupCode(secrets)}`
}

/**
 * Lets the first account be made only with the code. A wrong one is counted like a wrong password. Refuses `setup_code_wrong` and
 * `rate_limited`.
 */
export async function requireSetupCode(
  { ground: { config, db, secrets }, attempts }: Desk,
  { ip }: Visit,
  typed: string | undefined,
): Promise<void> {
  if (!hasSetupCode(config) || !(await needsOwner(db))) return
  const counted = await attempts.count('password', networkOf(ip))
  const [given, right] = [Buffer.from(spelled(typed ?? '')), Buffer.from(setupCode(secrets))]
  if (given.length !== right.length || !timingSafeEqual(given, right)) refuse('setup_code_wrong')
  await counted.forgive()
}

// The process that keeps segments. It runs its periodic jobs on its own connections until its parent disconnects or ends.
import { once } from 'node:events'
import type { Config } from '../../ground/config.ts'
import { connect, type Node } from '../../ground/db/connect.ts'
import { openSecrets } from '../../ground/db/secrets.ts'
import { openFailingRounds } from '../failing-rounds/failing-rounds.ts'
import { openLog } from '../../ground/log.ts'
import { openSegmentChecks } from './check.ts'
import { openEmptying } from './emptying.ts'
import { openMerging } from './merge.ts'
import { openSealing } from './seal.ts'

/** The one message that the process receives. */
export type KeepingSettings = {
  readonly config: Pick<Config, 'logLevel' | 'secret' | 'dataDir'>
  readonly addresses: readonly Node[]
  /** Whether its connections to the embedded server get a low priority. */
  readonly isBehind: boolean
}

const parted = once(process, 'disconnect')
// A service manager signals every process of the service; only the parent decides when this process ends.
process.on('SIGINT', () => {}).on('SIGTERM', () => {})
const [{ config, addresses, isBehind }] = (await once(process, 'message')) as [KeepingSettings]
const log = openLog(config.logLevel)
const fail = (error: unknown) => {
  log.fatal({ err: error }, 'an error that nothing caught in the process that seals clicks for Explore')
  process.exit(1)
}
process.on('uncaughtException', fail).on('unhandledRejection', fail)
const database = connect(addresses, { log, name: 'sluice segments', isBehind })
const secrets = await openSecrets(config, database.kysely)
const ground = { database, secrets, log }
const failing = openFailingRounds({ db: database.kysely, log })
const rounds = [failing, openSealing(ground), openSegmentChecks(ground), openMerging(ground), openEmptying(ground)]
// Says that from now on there is work to finish before it ends.
process.send?.('begun')
await parted
await Promise.all(rounds.map(one => one.close()))
await database.close()

// A process that sends broadcasts, for tests that kill or stop it: `node broadcast-sender.ts <connection> <settings> <terms>`, each as JSON.
import { pino } from 'pino'
import { readConfig } from '../../src/ground/config.ts'
import { connect } from '../../src/ground/db/connect.ts'
import { openSecrets } from '../../src/ground/db/secrets.ts'
import type { SendTerms } from '../../src/telegram/broadcasts/terms.ts'
import { openBroadcastWorker } from '../../src/telegram/broadcasts/worker.ts'

const [connection = '{}', settings = '{}', terms = '{}'] = process.argv.slice(2)
const log = pino({ level: 'silent' })
const database = connect([JSON.parse(connection) as Record<string, string>], { log })
const config = readConfig(JSON.parse(settings) as Record<string, string>)
const secrets = await openSecrets(config, database.kysely)
openBroadcastWorker({ config, database, db: database.kysely, log, secrets }, JSON.parse(terms) as Partial<SendTerms>)

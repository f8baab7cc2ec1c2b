// A process that seals without a pause until it is killed: `node sealer.ts <address of a database> <secret>`.
import { pino } from 'pino'
import { connect } from '../../src/ground/db/connect.ts'
import { openSecrets } from '../../src/ground/db/secrets.ts'
import { sealAll } from '../../src/reading/segments/seal.ts'

const [, , url = '', secret = ''] = process.argv
const database = connect(url.split(','), { log: pino({ level: 'silent' }) })
const secrets = await openSecrets({ secret, dataDir: '' }, database.kysely)
for (;;) {
  await sealAll(database.worker, secrets)
  process.send?.('sealed')
}

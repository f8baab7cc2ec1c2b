// Sluice as `npm start` runs it, with the bench's database and settings, and with quotas that are never reached.
import { pino } from 'pino'
import { readConfig } from '../src/ground/config.ts'
import { connect } from '../src/ground/db/connect.ts'
import { openHouse } from '../src/house.ts'

const UNREACHED = 1_000_000_000

const config = readConfig(process.env)
const log = pino({ level: config.logLevel, base: {} }, pino.destination(2))
// The embedded server's address has its folder after `?host=`.
const host = new URL(config.databaseUrl[0] ?? '').searchParams.get('host') ?? ''
const database = connect([{ host, port: 5432, user: 'sluice', database: 'postgres' }], { log })
const house = await openHouse(config, database, log, {
  // On a busy machine a question may take longer than Sluice allows; the budget judges the time.
  explore: { question_ms: 60_000 },
  quotas: { events: UNREACHED, clicks: UNREACHED, report: UNREACHED, writes: UNREACHED },
})
console.log(`open at ${await house.listen()}`)

const end = async () => {
  await house.close()
  await database.close()
  process.exit()
}
process.once('SIGTERM', () => void end()).once('disconnect', () => void end())

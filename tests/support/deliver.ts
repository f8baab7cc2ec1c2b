// A worker in its own process, which tests kill or stop: `node deliver.ts <connection as JSON> <options as JSON>`.
import { pino } from 'pino'
import { readConfig } from '../../src/ground/config.ts'
import { connect } from '../../src/ground/db/connect.ts'
import { openDeliveryWorker, type DeliveryWorkerOptions } from '../../src/outgoing/deliveries/worker.ts'
import { postbackLane } from '../../src/outgoing/postbacks/lane.ts'

const [connection = '{}', terms = '{}'] = process.argv.slice(2)
const log = pino({ level: 'silent' })
const database = connect([JSON.parse(connection) as Record<string, string>], { log })
const config = readConfig({ ALLOW_PRIVATE_TARGETS: 'true' })
openDeliveryWorker({ config, database, log }, [postbackLane], JSON.parse(terms) as DeliveryWorkerOptions)

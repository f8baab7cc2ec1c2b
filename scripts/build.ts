// `npm run build`: builds the dashboard and the bundled server, as the first start does.
import { pino } from 'pino'
import { buildDashboard, bundleServer } from '../src/builds.ts'

const log = pino({ level: 'warn' })
await Promise.all([buildDashboard(log), bundleServer(log)])

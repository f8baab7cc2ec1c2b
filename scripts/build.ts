// `npm run build`: brings the dashboard and the bundled server up to date, as the first start would.
import { pino } from 'pino'
import { buildDashboard, bundleServer } from '../src/builds.ts'

const log = pino({ level: 'warn' })
await Promise.all([buildDashboard(log), bundleServer(log)])

/** The metric of this process's conversions. */
import { Counter } from 'prom-client'

/** Add one for each conversion. Without labels of organizations, so that it has few series. */
export const conversionsEnded = new Counter({
  name: 'sluice_conversions_total',
  help: 'Conversions, by outcome: accepted, repeated (recorded before), refused (400, 403, 422 and postbacks of networks)',
  labelNames: ['outcome'],
})
for (const outcome of ['accepted', 'repeated', 'refused']) conversionsEnded.inc({ outcome }, 0)

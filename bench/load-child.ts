// The process of the load: runs one job after another for its parent.
import { type Job, Load } from './load.ts'
import { requestsOf } from './requests.ts'

process.on('message', (job: Job) => {
  new Load(job, { next: requestsOf(job.recipe) }).run().then(
    measured => process.send?.({ measured }),
    (error: unknown) => process.send?.({ failed: error instanceof Error ? error.message : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
console.log('open at its parent')

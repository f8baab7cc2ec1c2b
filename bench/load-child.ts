// The process of the load: runs one job after another for its parent.
import { answerParent } from './answering.ts'
import { type Job, Load, type Measured } from './load.ts'
import { requestsOf } from './requests.ts'

answerParent<Job, Measured>(job => new Load(job, { next: requestsOf(job.recipe) }).run())

// Runs test files one after another in this process, each as a suite: `node shared-process.ts <file>…`. Modules are loaded only once.
import { resolve } from 'node:path'
import { after, suite } from 'node:test'
import { follow, unfollow } from './followed.ts'
import { limitEnd } from './left-open.ts'
import { noteCost, processorMs } from './processor-time.ts'
import { endShared, shareBetweenFiles } from './shared.ts'

shareBetweenFiles()
for (const file of process.argv.slice(2)) {
  const before_ms = processorMs()
  await new Promise<void>(ended => {
    follow()
    void suite(file, async () => {
      after(() => ended())
      await import(resolve(file)).finally(unfollow)
    })
  })
  noteCost(file, processorMs() - before_ms)
}
await endShared()
limitEnd()

// The ground of a fault test: organizations, a receiver that records calls, and processes that can be killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../../src/ground/db/connect.ts'
import type { Target } from './load.ts'
import { seedPlace } from './place.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type Sluice, type SluiceOptions, startSluice } from './sluice.ts'

/** The duration of each fault: some seconds in `npm test`, longer in `npm run test:faults`. */
export const SECONDS = Number(process.env['SLUICE_FAULT_SECONDS'] ?? 3)
/** Whether `npm run test:faults` runs. `npm test` does each fault only once. */
export const IS_LONG = process.env['SLUICE_FAULT_SECONDS'] !== undefined

export type FaultGround = {
  targets: Target[]
  receiver: Receiver
  /** Starts a process; `number` names its data folder. */
  start(number: number, env?: Record<string, string>, options?: SluiceOptions): Promise<Sluice>
  /** Makes all deliveries due that wait for a lease or a retry. Only while no process works. */
  mature(): Promise<void>
  end(): Promise<void>
}

/** Seeds organizations whose rules call one receiver on loopback. `url` is the database's address for processes. */
export async function faultGround(database: Database, url: string, organizations: number): Promise<FaultGround> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
  const receiver = await startReceiver()
  const targets: Target[] = []
  for (let n = 0; n < organizations; n += 1) targets.push(await seedPlace(database, `fault-${n}`, receiver.origin))
  const running = new Set<Sluice>()
  return {
    targets,
    receiver,
    async start(number, env = {}, options = {}) {
      const sluice = await startSluice(
        {
          DATABASE_URL: url,
          DATA_DIR: join(folder, String(number)),
          SECRET: 'the same in all processes',
          ALLOW_PRIVATE_TARGETS: 'true',
          LOG_LEVEL: 'silent',
          ...env,
        },
        options,
      )
      running.add(sluice)
      sluice.child.once('close', () => running.delete(sluice))
      return sluice
    },
    async mature() {
      await database.worker.query(`update deliveries set run_at = now() where state = 'pending'`)
    },
    async end() {
      await Promise.all([...running].map(sluice => sluice.kill()))
      await receiver.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

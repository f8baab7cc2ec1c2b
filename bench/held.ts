// A server of the bench on a ground of its own, held open for a comparison. Run as `held.ts DIR`: everything of Sluice and of its ground is that of the
// checkout in DIR. Tells its parent when it is open, and ends with it.
import { join, resolve } from 'node:path'
import type * as Ground from './ground.ts'
import type * as Organizations from './organizations.ts'

/** What the parent needs to ask the server and to count its processor time. */
export type Held = { port: number; pid: number; dataDir: string; campaignKeys: string[]; key: string }

const bench = join(resolve(process.argv[2] ?? '.'), 'bench')
const { openGround } = (await import(join(bench, 'ground.ts'))) as typeof Ground
const { CAMPAIGNS, createOrganization, createOwner, OFFERS } = (await import(
  join(bench, 'organizations.ts')
)) as typeof Organizations

const ground = await openGround()
const owner = await createOwner(ground)
// Nothing listens at port 9, so deliveries fail at once, in both checkouts alike.
const wide = { campaigns: CAMPAIGNS, offers: OFFERS, postback: 'http://127.0.0.1:9/postback' }
const { campaignKeys, key } = await createOrganization(ground, owner, wide)
const server = await ground.serve('all')
const end = async () => {
  await server.stop()
  await ground.close()
  process.exit()
}
process.once('SIGTERM', () => void end()).once('disconnect', () => void end())
const held: Held = { port: server.port, pid: server.pid, dataDir: ground.dataDir, campaignKeys, key }
process.send?.(held)

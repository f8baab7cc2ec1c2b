// A thread that merges bodies: a hundred thousand rows take it seconds, in which whoever comes to this process is served.
import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { net, type Row } from './facts.ts'
import { decode } from './parquet.ts'
import { partsOf } from './parts.ts'

if (parentPort !== null) {
  const [bodies] = (await once(parentPort, 'message')) as [readonly Uint8Array[]]
  const rows: Row[] = []
  for (const body of bodies) for (const row of await decode(body)) rows.push(row)
  parentPort.postMessage(partsOf(net(rows)))
}

// A thread that merges bodies: a hundred thousand rows take it seconds, in which whoever comes to this process is served.
import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { emptied, net, type Row } from './facts.ts'
import type { ToMerge } from './merge.ts'
import { decode } from './parquet.ts'
import { partsOf } from './parts.ts'

if (parentPort !== null) {
  const [{ bodies, without }] = (await once(parentPort, 'message')) as [ToMerge]
  const rows: Row[] = []
  for (const body of bodies)
    for (const row of await decode(body)) rows.push(without === undefined ? row : emptied(row, without))
  parentPort.postMessage(partsOf(net(rows)))
}

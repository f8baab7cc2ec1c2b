// A thread that counts the words of subs in bodies it is sent, one message after the other, and answers each by what it has found so far.
import { on } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { SUBS } from '../../contract/fields.ts'
import type { ToCount, Words } from './emptying.ts'
import { decode } from './parquet.ts'

const found = SUBS.map(name => ({ name, filled: 0, words: new Set<string>() }))

for await (const [{ bodies, most }] of parentPort === null
  ? []
  : (on(parentPort, 'message') as AsyncIterable<[ToCount]>)) {
  for (const body of bodies)
    for (const row of await decode(body, ['sign', ...SUBS]))
      for (const sub of found) {
        const word = row[sub.name]
        if (word === null || word === '') continue
        sub.filled += row.sign
        // Of more than enough it is no matter how many.
        if (sub.words.size <= most) sub.words.add(word)
      }
  parentPort?.postMessage(
    found.map(({ name, filled, words }): Words => ({ name, filled, words: words.size })) satisfies Words[],
  )
}

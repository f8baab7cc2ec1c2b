// Preloaded into a process (`--import`): shifts its wall clock by the milliseconds in the file of SLUICE_TEST_CLOCK, and follows
// changes of the file. Its monotonic clock, and all other processes, are unaffected.
import { readFileSync } from 'node:fs'

const file = process.env['SLUICE_TEST_CLOCK'] ?? ''
const READ_EVERY_MS = 20
const True = Date
let shift_ms = 0

function read(): void {
  const text = readFileSync(file, 'utf8')
  // Empty for a moment while it is written.
  if (text !== '') shift_ms = Number(text)
}

read()
setInterval(read, READ_EVERY_MS).unref()

const now = () => True.now() + shift_ms

globalThis.Date = new Proxy(True, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as) as object,
  apply: () => new True(now()).toString(),
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
})

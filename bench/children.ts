// The processes of the bench: the server, the load and the references each have their own, so that none uses another's time.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Job, Measured } from './load.ts'
import type { PlainJob } from './plain.ts'
import type { TrafficAnswer, TrafficOrder } from './soak/traffic.ts'

/** `output` returns the last lines that it has printed. */
export type Child = {
  pid: number
  port: number
  output(): string
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}
type MeasuringChild<Question, Answer> = { ask(question: Question): Promise<Answer>; stop(): Promise<void> }

const OPEN = /open at (\S+)/
const START_MS = 120_000

type Settings = { env?: Record<string, string>; execArgv?: string[]; cwd?: string }

/** Starts a file of this folder as a process and resolves when it prints that it is open. It always ends with the bench. */
export async function startServer(file: string, settings: Settings = {}): Promise<Child> {
  const { child, address, output } = await start(file, settings)
  return {
    pid: child.pid ?? 0,
    port: Number(new URL(address).port),
    output: () => output.join(''),
    signal: name => void child.kill(name),
    stop: () => stop(child),
  }
}

export const startLoad = (): Promise<MeasuringChild<Job, Measured>> => startMeasuringChild('load-child.ts')
export const startTraffic = (): Promise<MeasuringChild<TrafficOrder, TrafficAnswer>> =>
  startMeasuringChild('soak/traffic.ts')
export const startPlain = (): Promise<MeasuringChild<PlainJob, { per_second: number }>> =>
  startMeasuringChild('plain.ts')

async function startMeasuringChild<Question, Answer>(file: string): Promise<MeasuringChild<Question, Answer>> {
  const { child } = await start(file, {})
  let waiting: PromiseWithResolvers<Answer> | undefined
  child.on('message', ({ measured, failed }: { measured?: Answer; failed?: string }) => {
    if (measured === undefined) waiting?.reject(new Error(`${file} could not measure: ${failed}`))
    else waiting?.resolve(measured)
  })
  child.once('exit', () => waiting?.reject(new Error(`${file} ended without an answer`)))
  return {
    ask(question) {
      waiting = Promise.withResolvers<Answer>()
      child.send(question as object)
      return waiting.promise
    },
    stop: () => stop(child),
  }
}

async function start(file: string, { env = {}, execArgv = [], cwd }: Settings) {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = fork(join(import.meta.dirname, file), {
    env: { PATH, ...(NODE_COMPILE_CACHE === '' ? {} : { NODE_COMPILE_CACHE }), ...env },
    execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A signal to the group of the terminal is the parent's to answer, which still needs this process.
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
  })
  const output: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const readOutput = (chunk: Buffer) => {
    output.push(chunk.toString())
    if (output.length > 100) output.shift()
    const address = OPEN.exec(output.join(''))?.[1]
    if (address !== undefined) resolve(address)
  }
  child.stdout?.on('data', readOutput)
  child.stderr?.on('data', readOutput)
  child.once('exit', code => reject(new Error(`${file} ended with ${code}: ${output.join('')}`)))
  const timer = setTimeout(() => reject(new Error(`${file} did not open: ${output.join('')}`)), START_MS)
  try {
    return { child, address: await promise, output }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  // A stopped process handles no other signal.
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await ended
  clearTimeout(timer)
}

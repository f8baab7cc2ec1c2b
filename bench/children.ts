// The processes of the bench: the server, the load and the yardsticks each have one of their own, so that none works in another's time.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Job, Measured } from './load.ts'
import type { PlainJob } from './plain.ts'

export type Child = { pid: number; port: number; signal(name: NodeJS.Signals): void; stop(): Promise<void> }
type Asked<Question, Answer> = { ask(question: Question): Promise<Answer>; stop(): Promise<void> }

const OPEN = /open at (\S+)/
const START_MS = 120_000

type Settings = { env?: Record<string, string>; execArgv?: string[]; cwd?: string }

/** Starts a process of this folder and resolves when it says that it is open. It ends with the bench, whatever ends that. */
export async function startServer(file: string, settings: Settings = {}): Promise<Child> {
  const { child, said } = await start(file, settings)
  return {
    pid: child.pid ?? 0,
    port: Number(new URL(said).port),
    signal: name => void child.kill(name),
    stop: () => stop(child),
  }
}

export const startLoad = (): Promise<Asked<Job, Measured>> => startAsked('load.ts')
export const startPlain = (): Promise<Asked<PlainJob, { per_second: number }>> => startAsked('plain.ts')

async function startAsked<Question, Answer>(file: string): Promise<Asked<Question, Answer>> {
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
    ...(cwd === undefined ? {} : { cwd }),
  })
  const heard: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const hear = (chunk: Buffer) => {
    heard.push(chunk.toString())
    if (heard.length > 100) heard.shift()
    const said = OPEN.exec(heard.join(''))?.[1]
    if (said !== undefined) resolve(said)
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  child.once('exit', code => reject(new Error(`${file} ended with ${code}: ${heard.join('')}`)))
  const timer = setTimeout(() => reject(new Error(`${file} did not open: ${heard.join('')}`)), START_MS)
  try {
    return { child, said: await promise }
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
  // A stopped process hears nothing else.
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await ended
  clearTimeout(timer)
}

/**
 * The parent's side of the scanning process. The first question starts it, five minutes without a question end it, and so does a question that takes
 * too long. It is a separate process so that the memory and crashes of a scan cannot touch redirects. One question at a time, in turns.
 */
import { fork } from 'node:child_process'
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { MINUTE_MS } from '../../contract/days.ts'
import { Refusal } from '../../contract/refusals.ts'
import { childEnvironment } from '../../ground/child-environment.ts'
import { countCrash, measureChild } from '../../ground/child-metrics.ts'
import { runBehind } from '../../ground/priority.ts'
import type { ScanValue } from './columns.ts'
import { type ProcessorUse, readProcessorUse, wasHeldUp } from './processor-share.ts'
import { openTurns } from './turns.ts'

/** A statement sent to the process; `is_first` marks the first one of its question. */
export type ScanStatement = { readonly id: number; readonly sql: string; readonly is_first: boolean }
export type ScanRow = { readonly [column: string]: ScanValue }
export type ScanAnswer = { readonly id: number; readonly rows: readonly ScanRow[]; readonly failed?: string }

/** Sends one statement of a question and returns its rows. `process` identifies the scanning process, whose open files end with it. */
export type Ask = ((sql: string) => Promise<readonly ScanRow[]>) & { readonly process: object }

export type Engine = {
  /**
   * Runs a question's statements, one after the other, when it is the workspace's turn. Refuses `explore_busy` where too many of its questions
   * wait or other processes kept the question from the processor, and `question_too_wide` for one that takes too long or too much memory.
   * @throws FilesGone when local files are missing or broken: the question may be asked again, of another process.
   */
  run<T>(org_id: number, question: (ask: Ask) => Promise<T>, goesOn?: boolean): Promise<T>
  close(): Promise<void>
}

/** The process could not run a statement. */
export class ScanFailed extends Error {}

/** The local files of a question were missing or broken. */
export class FilesGone extends Error {}

const IDLE_MS = 5 * MINUTE_MS

/** The most that DuckDB keeps in memory; the whole child grows to more than twice as much. */
const MEMORY = '140MB'
/** The process only passes rows on, so a small young generation and a garbage collector without threads are enough for it. */
const FLAGS = ['--max-semi-space-size=1', '--single-threaded']
const MOST_THREADS = 2

const TOO_LONG = {
  error: 'the question takes too long',
  hint: 'Choose fewer days, fewer levels or another filter, such as one campaign.',
}
const HELD_UP = {
  error: 'the server is busy',
  hint: 'Other work on this server kept the question from being answered in time. Try again in a minute.',
  headers: { 'retry-after': '60' },
}
const TOO_MUCH = {
  error: 'the question needs too much memory',
  hint: 'Choose fewer days, fewer levels or another filter, such as one campaign.',
}

type EngineOptions = {
  question_ms: number
  idle_ms?: number
  isBehind?: boolean
  readUse?: (pid: number) => ProcessorUse | undefined
}

/**
 * Opens the scanning process for one question at a time. A question is refused after `question_ms`; the process ends after `idle_ms` without one, and has a low
 * priority if it `isBehind`.
 */
export function openEngine(
  folder: string,
  log: Logger,
  { question_ms, idle_ms = IDLE_MS, isBehind = true, readUse = readProcessorUse }: EngineOptions,
): Engine {
  let child: Child | undefined
  let idle: NodeJS.Timeout | undefined
  const turns = openTurns()
  let all: Promise<unknown> = Promise.resolve()

  async function runNow<T>(question: (ask: Ask) => Promise<T>): Promise<T> {
    clearTimeout(idle)
    const wasRunning = child !== undefined
    child ??= await startedChild(folder, log, isBehind)
    const scanner = child
    let hasAnswered = false
    const before = readUse(scanner.pid)
    const late = setTimeout(
      () => void scanner.end(wasHeldUp(before, readUse(scanner.pid)) ? 'held up' : 'late'),
      question_ms,
    )
    try {
      let is_first = true
      const ask = (sql: string) => {
        const answered = scanner.ask(sql, is_first)
        is_first = false
        return answered.then(rows => {
          hasAnswered = true
          return rows
        })
      }
      return await question(Object.assign(ask, { process: scanner }))
    } catch (error) {
      // Its open files can no longer be trusted.
      if (error instanceof FilesGone) await scanner.end('idle')
      if (!wasRunning || hasAnswered || scanner.ended !== 'ended') throw error
    } finally {
      clearTimeout(late)
      if (scanner.ended !== undefined) child = undefined
      idle = setTimeout(() => void stop(), idle_ms).unref()
    }
    // It had been killed before this question, for example because memory ran out.
    return runNow(question)
  }

  async function stop(): Promise<void> {
    const scanner = child
    child = undefined
    await scanner?.end('idle')
  }

  return {
    run(org_id, question, goesOn) {
      const mine = turns.run(org_id, () => runNow(question), goesOn)
      // Drops the results, which would otherwise stay in memory as long as questions keep coming.
      all = Promise.allSettled([all, mine]).then(() => undefined)
      return mine
    },
    async close() {
      turns.close()
      await all
      clearTimeout(idle)
      await stop()
    },
  }
}

/** The error for a statement that failed with this message or whose process ended. */
function refused(failed: string): Error {
  if (failed === 'held up') return new Refusal('explore_busy', HELD_UP)
  if (failed === 'late') return new Refusal('question_too_wide', TOO_LONG)
  if (/Out of Memory|max_temp_directory_size/i.test(failed)) return new Refusal('question_too_wide', TOO_MUCH)
  if (failed === 'ended') return new Refusal('explore_busy', { headers: { 'retry-after': '5' } })
  return GONE.test(failed) ? new FilesGone(failed) : new ScanFailed(failed)
}

const GONE =
  /^IO Error|Cannot open file|^FATAL|^INTERNAL|invalidated|not a valid DuckDB|^Serialization Error|No magic bytes|Decompression/i

type Child = {
  ask(sql: string, is_first: boolean): Promise<readonly ScanRow[]>
  /** Ends the process, with a reason that decides the refusal of an unanswered question. */
  end(why: 'late' | 'held up' | 'idle'): Promise<void>
  readonly pid: number
  readonly ended: string | undefined
}

/** Starts a process and waits until it answers, because a busy machine takes seconds for that, which must not count as the question's time. */
async function startedChild(folder: string, log: Logger, isBehind: boolean): Promise<Child> {
  const child = startChild(folder, log, isBehind)
  await child.ask('select 1', true)
  return child
}

function startChild(folder: string, log: Logger, isBehind: boolean): Child {
  const threads = Math.min(MOST_THREADS, availableParallelism())
  const process_ = fork(new URL('./engine-child.ts', import.meta.url), [folder, MEMORY, String(threads)], {
    serialization: 'advanced',
    detached: true,
    // With one arena the C library returns more of the memory that is freed.
    env: { ...childEnvironment(), MALLOC_ARENA_MAX: '1' },
    execArgv: FLAGS,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  if (isBehind && process_.pid !== undefined) runBehind(process_.pid)
  measureChild('scanning', process_)
  const open = new Map<number, (answered: ScanAnswer) => void>()
  let next = 0
  let ended: string | undefined
  const gone = new Promise<void>(resolve => {
    process_.once('exit', (code, signal) => {
      if (ended === undefined) {
        countCrash('scanning')
        log.error({ code, signal }, 'the process that answers Explore has ended')
      }
      ended ??= 'ended'
      for (const [id, resolveOne] of open) resolveOne({ id, rows: [], failed: ended })
      open.clear()
      rmSync(join(folder, `spilled-${process_.pid}`), { recursive: true, force: true })
      resolve()
    })
  })
  process_.on('error', error => log.error({ err: error }, 'the process that answers Explore cannot be reached'))
  process_.on('message', (answered: ScanAnswer) => {
    open.get(answered.id)?.(answered)
    open.delete(answered.id)
  })
  return {
    pid: process_.pid ?? 0,
    get ended() {
      return ended
    },
    async ask(sql, is_first) {
      if (ended !== undefined) throw refused(ended)
      const id = next++
      const { rows, failed } = await new Promise<ScanAnswer>(resolve => {
        open.set(id, resolve)
        // The pipe of a killed process breaks (EPIPE) before its end is known here. Killing it again makes sure that there is one, which answers.
        process_.send({ id, sql, is_first } satisfies ScanStatement, error => error && process_.kill('SIGKILL'))
      })
      if (failed !== undefined) throw refused(failed)
      return rows
    },
    end(why) {
      ended ??= why
      process_.kill('SIGKILL')
      return gone
    },
  }
}

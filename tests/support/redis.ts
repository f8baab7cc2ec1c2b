// A test's own Redis, on a socket in a temporary folder, which can be frozen, killed and restarted.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type TestRedis = { url: string; freeze(): void; thaw(): void; kill(): void; start(): Promise<void>; end(): void }

export async function startRedis(): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const socket = join(folder, 'redis.sock')
  let server: ChildProcess | undefined
  const start = async () => {
    rmSync(socket, { force: true })
    server = spawn(
      'redis-server',
      ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', folder],
      { stdio: 'ignore' },
    )
    server.on('error', () => {})
    for (const deadline = performance.now() + 60_000; !existsSync(socket); ) {
      if (server.exitCode !== null || performance.now() > deadline)
        throw new Error('redis-server did not start: install it (Debian: apt-get install redis-server)')
      await sleep(10)
    }
  }
  await start()
  return {
    url: socket,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    kill: () => void server?.kill('SIGKILL'),
    start,
    end() {
      server?.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

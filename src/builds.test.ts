import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const ROOT = dirname(import.meta.dirname)
const BUILD = `
  import { pino } from 'pino'
  import { buildDashboard } from './src/builds.ts'
  await buildDashboard(pino({ level: 'silent' }))`

const BUNDLE = BUILD.replaceAll('buildDashboard', 'bundleServer')

/** Runs a program to its end and returns its process number, which is then free. */
async function run(cwd: string, ...flags: string[]): Promise<number> {
  const child = spawn(process.execPath, flags, { cwd, stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0)
  return child.pid ?? assert.fail('it never ran')
}

/** A copy of Sluice with a dashboard of one page, in its own folder. */
async function seedSources(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'sluice-dashboard-'))
  const sources = [
    'package.json',
    'package-lock.json',
    'vite.config.ts',
    'src/builds.ts',
    'src/server-bundle.ts',
    'src/ground/is-running.ts',
    'src/ground/start-error.ts',
  ]
  for (const path of sources) await cp(join(ROOT, path), join(root, path))
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  await mkdir(join(root, 'src/web'))
  await writeFile(join(root, 'src/web/index.html'), '<!doctype html><title>Sluice</title>')
  return root
}

test('a build removes the folder of a killed build, but not of one in progress', async t => {
  const root = await seedSources()
  t.after(() => rm(root, { recursive: true }))
  const gone = await run(root, '--eval', '')
  const [left, under_way] = [`dist.${gone}`, `dist.${process.pid}`]
  for (const folder of [left, under_way, 'dist.mine']) {
    await mkdir(join(root, folder, 'assets'), { recursive: true })
    await writeFile(join(root, folder, 'assets/index.js'), '')
  }
  await run(root, '--input-type=module', '--eval', BUILD)
  const built = (await readdir(root)).filter(name => name.startsWith('dist'))
  assert.deepEqual(new Set(built), new Set(['dist', under_way, 'dist.mine']))
  assert.match(await readFile(join(root, 'dist/index.html'), 'utf8'), /<title>Sluice/)
})

test('a build that ends after another process has built the same keeps that one', async t => {
  const root = await seedSources()
  t.after(() => rm(root, { recursive: true }))
  // The other process puts its build there while this one builds.
  await writeFile(
    join(root, 'vite.config.ts'),
    `import { mkdirSync, writeFileSync } from 'node:fs'
    const closeBundle = () => {
      mkdirSync(${JSON.stringify(join(root, 'dist'))})
      writeFileSync(${JSON.stringify(join(root, 'dist/index.html'))}, 'the other')
    }
    export default { plugins: [{ name: 'other', closeBundle }] }`,
  )
  await run(root, '--input-type=module', '--eval', BUILD)
  assert.equal(await readFile(join(root, 'dist/index.html'), 'utf8'), 'the other')
  assert.deepEqual(
    (await readdir(root)).filter(name => name.startsWith('dist')),
    ['dist'],
  )
})

test('Sluice starts from the bundled server until one of its sources changes, and the next build follows it', async t => {
  const root = await seedSources()
  t.after(() => rm(root, { recursive: true }))
  for (const path of ['rolldown.config.ts', 'src/main.ts']) await cp(join(ROOT, path), join(root, path))
  const start = join(root, 'src/start.ts')
  const says = (word: string) =>
    `import { basename, resolve } from 'node:path'
    export const run = () => console.log(${JSON.stringify(word)}, basename(import.meta.filename), basename(resolve(import.meta.dirname)))`
  const started = async () => (await promisify(execFile)(process.execPath, [join(root, 'src/main.ts')])).stdout.trim()
  for (const path of [
    'reading/segments/keeping-child.ts',
    'reading/explore/engine-child.ts',
    'backup/backup-child.ts',
  ].map(name => `src/${name}`)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), '')
  }
  await writeFile(start, says('one'))
  assert.equal(await started(), 'one start.ts src')
  await run(root, '--input-type=module', '--eval', BUNDLE)
  assert.equal(await started(), 'one start.js src', 'and finds files beside the source')
  await writeFile(start, says('two'))
  assert.equal(await started(), 'two start.ts src')
  await run(root, '--input-type=module', '--eval', BUNDLE)
  assert.equal(await started(), 'two start.js src')
})

// The documents name only files, pages and sections that exist, and name everything they must.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import sluice from '../package.json' with { type: 'json' }
import { MACROS } from '../src/contract/address.ts'
import { EVENT_TYPES } from '../src/contract/event-types.ts'
import { EXPLORE_DIMENSIONS } from '../src/contract/explore-dimensions.ts'
import { REFUSALS } from '../src/contract/refusal-catalogue.ts'
import { ALL_RIGHTS } from '../src/contract/rights.ts'
import { SOURCE_TEMPLATES } from '../src/contract/source-templates/all.ts'
import { readConfig } from '../src/ground/config.ts'
import { TOOLS } from '../src/mcp/tools/all.ts'
import { POSTBACK_MACROS } from '../src/outgoing/postbacks/api.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const documents = globSync(['*.md', 'docs/**/*.md', '{src,tests}/**/README.md'], { cwd: ROOT })

/** Every match of this expression in the documents, with its document. */
const named = (expression: RegExp) =>
  documents.flatMap(document => [...read(document).matchAll(expression)].map(([, name = '']) => ({ document, name })))

/** The address GitHub gives to each heading of a page. */
const anchorsOf = (page: string) =>
  [...page.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('files and pages that the documents name exist', () => {
  const files = named(/`((?:src|tests|docs|demo|bench|scripts|migrations)\/[\w./-]+)`/g)
  const pages = named(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)
  assert.ok(files.length > 10 && pages.length > 30, 'the documents were read')
  const missing = [
    ...files.filter(({ name }) => !existsSync(join(ROOT, name))),
    ...pages.filter(({ document, name }) => !existsSync(join(ROOT, dirname(document), name))),
  ]
  assert.deepEqual(missing, [])
})

test('sections that the documents link to exist', () => {
  const links = named(/\]\((?!https?:)([^)#]*#[^)]+)\)/g)
  assert.ok(links.length > 100, 'the documents were read')
  const missing = links.filter(({ document, name }) => {
    const [page = '', anchor = ''] = name.split('#')
    return !anchorsOf(read(page === '' ? document : join(dirname(document), page))).includes(anchor)
  })
  assert.deepEqual(missing, [])
})

test('the glossary is alphabetical, and each word links to the page that explains it or refers to another word', () => {
  const rows = [...read('docs/glossary.md').matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].slice(1)
  const words = rows.map(([, word = '']) => word)
  assert.ok(words.length > 80, 'the glossary was read')
  assert.deepEqual(
    words,
    words.toSorted((one, other) => one.localeCompare(other, 'en')),
  )
  const isExplained = (meaning = '') =>
    /\]\(.+\)/.test(meaning) || words.includes(/^See (.+)\.$/.exec(meaning)?.[1] ?? '')
  assert.deepEqual(
    rows.filter(([, , meaning]) => !isExplained(meaning)).map(([line]) => line),
    [],
  )
})

test('the table of fixtures names only what they export', () => {
  const table = read('tests/support/README.md')
  for (const [, names = '', file = ''] of table.matchAll(/((?:`\w+`(?:, )?)+) of `([\w-]+\.ts)`/g))
    for (const [, name = ''] of names.matchAll(/`(\w+)`/g))
      assert.match(read(`tests/support/${file}`), new RegExp(`^export (async )?(function|const) ${name}\\b`, 'm'), name)
  for (const [, file = ''] of table.matchAll(/`([\w-]+\.ts)`/g))
    assert.ok(existsSync(join(ROOT, 'tests/support', file)), file)
})

test('every exported name of a fixture is unique', () => {
  const names = globSync('tests/support/**/*.ts', { cwd: ROOT }).flatMap(file =>
    [...read(file).matchAll(/^export (?:async )?(?:function|const|class|type) (\w+)/gm)].map(([, name = '']) => name),
  )
  assert.ok(names.length > 200, 'the fixtures were read')
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

test('files that comments and texts of the source name exist', () => {
  const source = globSync(['{src,tests,demo,bench,scripts}/**/*.{ts,tsx,css}'], { cwd: ROOT })
  const path =
    /(?<![\w./-])((?:src|tests|docs|demo|bench|scripts|migrations|deploy)\/[\w./-]+\.(?:md|tsx?|css|sql|txt))\b/g
  const files = source.flatMap(file => [...read(file).matchAll(path)].map(([, name = '']) => ({ file, name })))
  assert.ok(files.length > 50, 'the source was read')
  assert.deepEqual(
    files.filter(({ name }) => !existsSync(join(ROOT, name))),
    [],
  )
})

test('every setting is explained, with its default', () => {
  const rows = read('docs/settings.md').split('\n')
  /** Without their default: a folder that depends on where Sluice is started, and the long addresses of the platforms. */
  const elsewhere = /^(DATA_DIR|\w+_BASE|GOOGLE_TOKEN_URL)$/
  for (const [key, value] of Object.entries(readConfig({}))) {
    const name = key.replace(/[A-Z]/g, '_$&').toUpperCase()
    const row = rows.find(one => one.split('|')[1]?.includes(`\`${name}\``)) ?? assert.fail(`${name} is not explained`)
    const isShown = value === undefined || typeof value === 'object' || elsewhere.test(name)
    assert.ok(
      isShown || row.split('|')[2]?.includes(`\`${String(value)}\``),
      `${name} has another default: ${String(value)}`,
    )
  }
})

test('every code of a refusal is in the page about the API, under its status', () => {
  const rows = read('docs/api.md').split('\n')
  for (const { status, code } of Object.values(REFUSALS)) {
    const row = rows.find(one => one.split('|')[1]?.includes(String(status))) ?? assert.fail(`${status} has no row`)
    assert.ok(code === undefined || row.includes(`\`${code}\``), `${code} (${status}) is not explained`)
  }
})

test('every event type is in the page about conversions', () => {
  const page = read('docs/conversions.md')
  for (const type of EVENT_TYPES) assert.ok(/^custom_[2-7]$/.test(type) || page.includes(`\`${type}\``), type)
})

test('every macro is explained, those of postbacks to AI hosts as well', () => {
  const places: [readonly string[], string[]][] = [
    [MACROS, ['docs/clicks.md']],
    [POSTBACK_MACROS, ['docs/postbacks.md', 'src/mcp/tools.golden.txt']],
  ]
  for (const [macros, paths] of places)
    for (const path of paths) {
      const text = read(path)
      const missing = macros.filter(name => !/^sub[2-8]$/.test(name) && !text.includes(`{${name}}`))
      assert.deepEqual(missing, [], path)
    }
})

test('the numbers in the README are right', () => {
  const readme = read('README.md')
  const counted = {
    templates: Object.keys(SOURCE_TEMPLATES),
    dimensions: EXPLORE_DIMENSIONS,
    rights: ALL_RIGHTS,
    'tools for AI hosts': TOOLS,
  }
  for (const [words, all] of Object.entries(counted)) assert.ok(readme.includes(`${all.length} ${words}`), words)
})

test('every command of npm is in the README', () => {
  const readme = read('README.md')
  for (const name of Object.keys(sluice.scripts))
    assert.match(readme, new RegExp(`npm (run )?${name}\\b`), `npm run ${name} is not explained`)
})

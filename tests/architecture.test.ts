// What ARCHITECTURE.md says of the house, read off the source: who may know whom, which room writes which table, and that no
// statement forgets whose rows it means.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { resolved, roomOf, type Source, sources, statements, tables, tenantTables } from './support/source.ts'

/** Folders of src/ that are no rooms. */
const NO_ROOMS = new Set(['.', 'contract', 'db', 'gate', 'mcp', 'web'])
const BANNED =
  /(^|-)(utils?|helpers?|managers?|services?|repositor(y|ies)|controllers?|dtos?|common|misc|base|data|info|handlers?|index)$/

/**
 * A batch of conversions writes for these rooms in its own transaction, because the click, the charge, the delivery and the
 * conversion stand or fall together.
 */
const WRITTEN_BY_EVENTS = new Set(['clicks', 'balances', 'ledger', 'deliveries'])

const none = (wrong: string[]): void => assert.deepEqual([...new Set(wrong)], [])
const isRoom = (name: string): boolean => !NO_ROOMS.has(name)
const imported = (of: (source: Source) => boolean): [string, string][] =>
  sources
    .filter(of)
    .flatMap(source => source.imports.map((name): [string, string] => [source.path, resolved(source, name)]))

/** Every import of these files that is not of the allowed kind. */
const strangers = (of: (source: Source) => boolean, allowed: (name: string) => boolean): string[] =>
  imported(of)
    .filter(([, name]) => !allowed(name))
    .map(([path, name]) => `${path} imports ${name}`)

describe('who may know whom', () => {
  const shared = /^src\/contract\/|^src\/[^/]+\/api\.ts$/

  test('contract and api files import zod, contract and other api files, nothing else', () => {
    const isShared = ({ path }: Source) => shared.test(path)
    none(strangers(isShared, name => name === 'zod' || shared.test(name)))
  })

  test('rooms know nothing of the door, the tools, the dashboard and fastify', () => {
    none(
      strangers(
        ({ room }) => isRoom(room),
        name => !/^src\/(gate|mcp|web)\/|^@?fastify/.test(name),
      ),
    )
  })

  test('the database knows no room and no door', () => {
    none(
      strangers(
        ({ room }) => room === 'db',
        name => !isRoom(roomOf(name)) && !/^src\/(gate|mcp|web)\//.test(name),
      ),
    )
  })

  test('the dashboard knows the contract, api files and itself', () => {
    none(
      strangers(
        ({ room }) => room === 'web',
        name => !name.startsWith('src/') || name.startsWith('src/web/') || shared.test(name),
      ),
    )
  })

  test('no room knows another that knows it, however far around', () => {
    const known = new Map<string, Set<string>>()
    for (const [path, name] of imported(({ room, path }) => isRoom(room) && !shared.test(path))) {
      const [from, to] = [roomOf(path), roomOf(name)]
      if (isRoom(to) && from !== to && !shared.test(name)) known.set(from, (known.get(from) ?? new Set()).add(to))
    }
    const circles = (room: string, way: string[]): string[] =>
      way.includes(room)
        ? [[...way.slice(way.indexOf(room)), room].join(' → ')]
        : [...(known.get(room) ?? [])].flatMap(next => circles(next, [...way, room]))
    none([...known.keys()].flatMap(room => circles(room, [])))
  })

  test('what a file exports another one imports', () => {
    const IMPORT = /\b(?:im|ex)port (?:type )?(?:\w+, )?(?:\{([^}]*)\}|\*(?: as \w+)?) from '(\.[^']+)'/g
    const LAZY = /\bimport\('(\.[^']+)'\)/g
    const [names, wholes] = [new Set<string>(), new Set<string>()]
    const texts = new Map<string, string>()
    for (const path of globSync('{src,tests,bench,demo,scripts}/**/*.{ts,tsx}')) {
      const text = readFileSync(path, 'utf8')
      texts.set(path, text)
      for (const [, list, from = ''] of text.matchAll(IMPORT)) {
        const file = join(dirname(path), from)
        if (list === undefined) wholes.add(file)
        else for (const one of list.split(',')) names.add(`${file} ${one.trim().replace(/^type | as .*/g, '')}`)
      }
      for (const [, from = ''] of text.matchAll(LAZY)) wholes.add(join(dirname(path), from))
    }
    const exported = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|type) (\w+)/gm)].map(([, name = '']) => ({
        path,
        name,
      })),
    )
    // Of what is read as a whole, such as a room's api.ts, the word has to stand in another file.
    const isNamed = ({ path, name }: (typeof exported)[number]) =>
      wholes.has(path)
        ? [...texts].some(([other, text]) => other !== path && new RegExp(`\\b${name}\\b`).test(text))
        : names.has(`${path} ${name}`)
    none(exported.filter(one => !isNamed(one)).map(({ path, name }) => `${path} ${name}`))
  })

  test('the map in ARCHITECTURE.md names every folder and every file that lies directly in src', () => {
    const map = readFileSync('ARCHITECTURE.md', 'utf8')
    const places = sources.map(({ path, room }) => (room === '.' ? [basename(path)] : [`src/${room}/`, `\`${room}\``]))
    none(places.filter(names => !names.some(name => map.includes(name))).map(names => names.join(' or ')))
  })

  test('files and folders are named after what they do, in kebab-case', () => {
    const names = sources.flatMap(({ path }) => [
      basename(path).replace(/(\.d)?\.tsx?$/, ''),
      ...dirname(path).split('/'),
    ])
    none(names.filter(name => BANNED.test(name) || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)))
  })
})

describe('who may write what', () => {
  const owners = new Map<string, Set<string>>()
  for (const { text, room } of sources) {
    const header = /^(\/\*\*[\s\S]*?\*\/|(\/\/.*\n)+)/.exec(text)?.[0].replace(/\n *(\*|\/\/)/g, ' ') ?? ''
    for (const [sentence] of header.matchAll(/\bOwns [^.]*/g)) {
      for (const [, table = ''] of sentence.matchAll(/`(\w+)`/g))
        owners.set(table, (owners.get(table) ?? new Set()).add(room))
    }
  }

  test('every table is owned by one room, which says so in the first lines of a file', () => {
    const wrong = [...tables].filter(table => owners.get(table)?.size !== 1)
    none(wrong.map(table => `${table} is owned by ${[...(owners.get(table) ?? ['no room'])].join(' and ')}`))
  })

  test('a table is written by its owner alone', () => {
    const writes = sources.flatMap(source => [...statements(source)].map(statement => ({ ...source, ...statement })))
    const wrong = writes
      .filter(({ verb }) => ['into', 'insert', 'update', 'delete'].includes(verb))
      .filter(
        ({ room, table }) => !owners.get(table)?.has(room) && !(room === 'events' && WRITTEN_BY_EVENTS.has(table)),
      )
    none(wrong.map(({ path, table }) => `${path} writes ${table}`))
  })
})

test('every statement on rows of an organization names org_id', () => {
  assert.ok(tenantTables.size >= 15, 'the migrations were read')
  const found = sources
    .flatMap(source => [...statements(source)].map(statement => ({ path: source.path, ...statement })))
    // An insert by the builder does not compile without its org_id.
    .filter(
      ({ table, builder, verb }) => tenantTables.has(table) && !(builder && verb === 'insert') && verb !== 'table',
    )
  assert.ok(found.length >= 20, 'the statements were found')
  none(
    found
      .filter(({ sql }) => !/\borg_id\b/.test(sql))
      .map(({ path, table, sql }) => `${path} forgets whose ${table}: ${sql}`),
  )
})

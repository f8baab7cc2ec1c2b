// `npm run bench`: measures Sluice against its budgets, each with a reference of the same run. Exits with 0 even if a budget is missed.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compareWith } from './against.ts'
import { runBench } from './measure.ts'
import { PARTS, type Part, planFor } from './plan.ts'
import { tableOf } from './rows.ts'

const USAGE = `npm run bench -- [--json] [--large] [--only ${PARTS.join(',')}] [--profile <folder>]
       npm run bench -- --against <folder> [--json]
  --json     one JSON object { rows: [{ name, value, unit, budget, pass, ratio }] } on standard output, with nothing else;
             with --against { comparison: { name: { median, low, high, windows } } }
  --large    10 million clicks instead of one million, and only the parts whose results depend on that number
  --only     measures these parts only
  --against  compares redirect, report and feed of this checkout with those of another one, in turns
  --profile  each server writes a CPU profile into the folder`

const isPart = (name: string): name is Part => (PARTS as readonly string[]).includes(name)

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        json: { type: 'boolean', default: false },
        large: { type: 'boolean', default: false },
        only: { type: 'string' },
        profile: { type: 'string' },
        against: { type: 'string' },
      },
    })
    const only = values.only?.split(',').map(name => name.trim())
    const unknown = only?.find(name => !isPart(name))
    if (unknown !== undefined) throw new Error(`there is no part ${JSON.stringify(unknown)}`)
    return { ...values, only: only?.filter(isPart) }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
    process.exit(2)
  }
}

const { json, large, only, profile, against } = readArguments()
const started = performance.now()
const tell = (line: string) =>
  console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`)
const plan = {
  ...planFor({ large, ...(only === undefined ? {} : { only }) }),
  ...(profile === undefined ? {} : { profileDir: profile }),
}
try {
  if (against === undefined) await measure()
  else console.log(await compared(against))
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
process.exit()

/** Prints the rows of each part as soon as it is measured; with `--json` all of them at the end. */
async function measure(): Promise<void> {
  const findings = await runBench(plan, tell, json ? undefined : found => console.log(tableOf(found)))
  tell('done')
  const rows = findings.map(({ beside: _, ...row }) => row)
  if (json) console.log(JSON.stringify({ rows }))
}

async function compared(dir: string): Promise<string> {
  const { comparison, lines } = await compareWith(resolve(dir), plan, tell)
  tell('done')
  return json ? JSON.stringify({ comparison }) : lines.join('\n')
}

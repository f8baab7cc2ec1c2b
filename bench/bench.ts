// `npm run bench`: measures Sluice against its budgets, each with a reference of the same run. Exits with 0 even if a budget is missed.
import { parseArgs } from 'node:util'
import { runBench } from './measure.ts'
import { PARTS, type Part, planFor } from './plan.ts'
import { tableOf } from './rows.ts'

const USAGE = `npm run bench -- [--json] [--large] [--only ${PARTS.join(',')}] [--profile <folder>]
  --json     one JSON object { rows: [{ name, value, unit, budget, pass }] } on standard output, with nothing else
  --large    10 million clicks instead of one million, and 5 minutes of traffic for the memory
  --only     measures these parts only
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

const { json, large, only, profile } = readArguments()
const started = performance.now()
const tell = (line: string) =>
  console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`)
const plan = {
  ...planFor({ large, ...(only === undefined ? {} : { only }) }),
  ...(profile === undefined ? {} : { profileDir: profile }),
}
try {
  const findings = await runBench(plan, tell)
  tell('done')
  const rows = findings.map(({ name, value, unit, budget, pass }) => ({ name, value, unit, budget, pass }))
  console.log(json ? JSON.stringify({ rows }) : tableOf(findings))
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
process.exit()

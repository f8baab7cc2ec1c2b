/** What is said of a tool that is not there: the ones that may have been meant, and how to come by what no tool reads. */
import { TOOLS } from './tools/all.ts'

const NAMES = TOOLS.map(({ shown }) => shown.name)

const LISTS =
  'No tool lists what is set up: service_get_report with dimension campaign or offer and service_list_clicks name those with traffic, ids come from the answers that created things. ' +
  'No tool shows how a thing is set up: ask the person, who sees it in the dashboard.'

/** Verbs say what is done to a thing; what they stand before tells which. */
const VERBS = new Set([
  'service',
  'list',
  'get',
  'read',
  'show',
  'find',
  'create',
  'update',
  'delete',
  'set',
  'status',
  'all',
  'by',
  'id',
])
const READS = /(^|_)(list|get|read|show|find|search|fetch)(_|$)/

/** The message of the refusal. */
export function unknownTool(name: string): string {
  const things = wordsOf(name).filter(word => !VERBS.has(word))
  const near = NAMES.filter(one => wordsOf(one).some(word => things.includes(word)))
  const exact = near.filter(one => one === `service_${name}`)
  const said = exact.length > 0 ? exact : near
  return [
    `There is no tool ${JSON.stringify(name.slice(0, 100))}.`,
    ...(said.length > 0 ? [`Near it: ${said.join(', ')}.`] : []),
    ...(said.length > 0 && READS.test(name) ? [LISTS] : []),
  ].join(' ')
}

const wordsOf = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/[^a-z]+/)
    .map(word => word.replace(/s$/, ''))

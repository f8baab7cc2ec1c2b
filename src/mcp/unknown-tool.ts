/** The refusal of an unknown tool. It names similar tools, and says where to find what no tool reads. */
import { TOOLS } from './tools/all.ts'

const NAMES = TOOLS.map(({ shown }) => shown.name)

const LISTS =
  'No tool lists objects: service_get_report with dimension campaign or offer and service_list_clicks name those with traffic; other ids are in the answers that created the objects. ' +
  'Only a dry run of its update shows settings of an object: those that the call would change. For others ask the person, who sees them in the dashboard.'

/** Words in tool names that do not say which kind of object is meant. */
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
  const nouns = wordsOf(name).filter(word => !VERBS.has(word))
  const similar = NAMES.filter(one => wordsOf(one).some(word => nouns.includes(word)))
  const exact = similar.filter(one => one === `service_${name}`)
  const suggested = exact.length > 0 ? exact : similar
  return [
    `There is no tool ${JSON.stringify(name.slice(0, 100))}.`,
    ...(suggested.length > 0 ? [`Similar: ${suggested.join(', ')}.`] : []),
    ...(suggested.length > 0 && READS.test(name) ? [LISTS] : []),
  ].join(' ')
}

const wordsOf = (name: string): string[] =>
  name
    .toLowerCase()
    .split(/[^a-z]+/)
    .map(word => word.replace(/s$/, ''))

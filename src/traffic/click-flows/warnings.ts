/**
 * The warnings after a write of a click flow: conditions that match nobody, unknown macros, and campaigns without a fallback. They do not prevent
 * publishing.
 */
import { type Kysely, sql } from 'kysely'
import { COUNTRIES, likelyCountry } from '../../contract/countries.ts'
import { addressWarnings, type Warning } from '../../contract/warnings.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { unknownMacros } from '../addresses/preview.ts'
import { isAgentName, likelyAgentName } from './agent-names.ts'
import type { FlowNode, Graph } from './api.ts'
import { nameOf } from './validate.ts'

/** Values in a graph that are probably mistakes. */
export function graphWarnings({ nodes }: Graph): Warning[] {
  return nodes.flatMap((node, at) => {
    const field = `graph.nodes.${at}`
    const { type, url = null } = node
    const macros = type === 'redirect' ? addressWarnings(`${field}.url`, url, unknownMacros(url)) : []
    return [...countryWarnings(node, `${field}.values`), ...valueWarnings(node, `${field}.values`), ...macros].map(
      warning => ({
        ...warning,
        message: `Node ${nameOf(node)}: ${warning.message}`,
      }),
    )
  })
}

/** Two letters that are no country code. Texts of another length are a problem, not a warning. */
function countryWarnings({ type, field: conditionField, values }: FlowNode, field: string): Warning[] {
  if (type !== 'condition' || conditionField !== 'geo') return []
  const codes = (values ?? []).filter(value => /^[a-z]{2}$/i.test(value) && !COUNTRIES.has(value.toUpperCase()))
  return codes.slice(0, 5).map(code => {
    const likely = likelyCountry(code)
    const advice =
      likely === undefined ? 'Write the ISO code, such as DE.' : `Did you mean ${likely} (${COUNTRIES.get(likely)})?`
    return { code: 'unknown_country', field, message: `no visitor comes from ${code}. ${advice}` }
  })
}

/** Values of other conditions that match nobody. */
function valueWarnings(node: FlowNode, field: string): Warning[] {
  if (node.type !== 'condition') return []
  const faults = (node.values ?? []).flatMap(value => faultOfValue(node, value) ?? [])
  return faults.slice(0, 5).map(message => ({ code: 'matches_nobody', field, message }))
}

/** Why a value matches nobody; undefined if it may match somebody. */
function faultOfValue({ field, match }: FlowNode, value: string): string | undefined {
  if (field === 'language') return faultOfLanguage(value)
  if (match === 'is_set' || field == null) return undefined
  const wildcard = field.startsWith('sub')
    ? WILDCARD_OF_SUB
    : field === 'os' || field === 'browser'
      ? /[*%]/
      : undefined
  if (wildcard?.test(value))
    return `${value} is compared as it stands, because there are no wildcards. For any value set match to is_set, for a part to contains or starts_with.`
  if ((field !== 'os' && field !== 'browser') || isAgentName(field, value, match ?? 'is')) return undefined
  const likely = likelyAgentName(field, value)
  const what = field === 'os' ? 'operating system' : 'browser'
  return `no ${what} is known as ${value}. ${likely === undefined ? 'Write the name as clicks show it.' : `Did you mean ${likely}?`}`
}

/** A sub that begins or ends with a wildcard. A percent sign in the middle may be part of a real value. */
const WILDCARD_OF_SUB = /^[*%]|[*%]$/

const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
/** Language codes by English name. */
const codesOfLanguages = new Map(
  Array.from('abcdefghijklmnopqrstuvwxyz')
    .flatMap((first, _, letters) => letters.map(second => first + second))
    .flatMap(code => {
      const name = languages.of(code)
      return name === undefined ? [] : [[name.toLowerCase(), code] as const]
    }),
)

function faultOfLanguage(value: string): string | undefined {
  const [first = ''] = value.toLowerCase().split(/[-_]/)
  const code = codeOfLanguage(first)
  if (code === first) return undefined
  const likely = code ?? codesOfLanguages.get(first)
  return `no browser sends ${first} as its language. ${likely === undefined ? 'Write a code such as en or pt-BR.' : `Did you mean ${likely}?`}`
}

/** The code that browsers send for a language code; undefined if it is none. */
function codeOfLanguage(text: string): string | undefined {
  if (!/^[a-z]{2,3}$/.test(text) || languages.of(text) === undefined) return undefined
  return new Intl.Locale(text).language
}

/** The campaigns that lead to a live flow and have no fallback. Reads `campaigns`. */
export async function fallbackWarnings(db: Kysely<Tables>, org_id: number, id: string): Promise<Warning[]> {
  const campaigns = await db
    .selectFrom('campaigns')
    .select('name')
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where('status', '=', 'active')
    .where('fallback_url', 'is', null)
    .where(sql<boolean>`destination ->> 'type' = 'click_flow' and destination ->> 'click_flow_id' = ${id}`)
    .orderBy('id')
    .execute()
  if (campaigns.length === 0) return []
  const named = campaigns.slice(0, 3).map(({ name }) => name)
  const more = campaigns.length > named.length ? ` and ${campaigns.length - named.length} more` : ''
  return [
    {
      code: 'no_fallback',
      field: 'campaigns',
      message: `Campaigns without a fallback: ${named.join(', ')}${more}. Visitors that the flow cannot take have nowhere to go. Give the campaigns a fallback (fallback_url).`,
    },
  ]
}

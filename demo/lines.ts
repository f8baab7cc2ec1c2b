// What the demo prints: how to sign in, the key, and lines that work as they stand.
import { DAY_MS } from '../src/contract/days.ts'
import { toWireId } from '../src/contract/ids.ts'
import type { Right } from '../src/contract/rights.ts'
import { EMAIL, NAME } from './workspace.ts'

/** Who is at the address: a Sluice that knows the demo, one with other data, or nobody. */
export type Answering = 'this' | 'another' | 'nobody'

export type Told = {
  address: string
  answering: Answering
  password: string
  key: { secret: string; read: readonly Right[]; write: readonly Right[] }
  /** A click for the conversion, and the public key of a campaign. */
  click_id: string
  campaignKey: string
  clicks: number
  conversions: number
  wasThere: boolean
  /** How the service is started on the demo's data. */
  start: string
  now: number
}

export function linesOf(told: Told): string {
  const { address, key, now } = told
  const day = (ago: number) => new Date(now - ago * DAY_MS).toISOString().slice(0, 10)
  const withKey = `-H 'x-api-key: ${key.secret}'`
  const conversion = JSON.stringify({
    clickId: toWireId(told.click_id),
    type: 'lead',
    payout: '14.50',
    nonce: 'demo-1',
  })
  return `
${NAME}: ${count(told.clicks)} clicks and ${count(told.conversions)} conversions of the last 90 days${told.wasThere ? ', from an earlier run' : ''}.
${beforeIt(told)}
Dashboard  ${address}
Sign in    ${EMAIL}
Password   ${told.password}
API key    ${key.secret}
  may read   ${key.read.join(', ')}
  may write  ${key.write.join(', ')}
${told.wasThere ? '\nPassword and key are new; those of the earlier run no longer work.\n' : ''}
# The newest clicks
curl -sw '\\n' ${withKey} '${address}/api/v1/clicks?limit=3'

# The last 30 days by campaign
curl -sw '\\n' ${withKey} '${address}/api/v1/report?dimension=campaign&date_from=${day(29)}&date_to=${day(0)}T23:59:59Z'

# A conversion; sent again, it is the same one
curl -sw '\\n' ${withKey} -H 'content-type: application/json' -d '${conversion}' '${address}/api/events'

# An AI host: Claude Code, or the same as settings for others (docs/mcp.md)
claude mcp add --transport http sluice ${address}/api/mcp --header 'x-api-key: ${key.secret}'
${JSON.stringify({ mcpServers: { sluice: { url: `${address}/api/mcp`, headers: { 'x-api-key': key.secret } } } })}

# A click: stored, then redirected with its id
curl -i '${address}/c/${told.campaignKey}?sub1=curl'
`
}

function beforeIt({ answering, address, start }: Told): string {
  if (answering === 'this') return ''
  if (answering === 'nobody') return `\nSluice is not running; start it with:  ${start}\n`
  return `\nWhat answers at ${address} has other data: stop it, then start the demo's with:  ${start}\n`
}

const count = (value: number): string => value.toLocaleString('en-US')

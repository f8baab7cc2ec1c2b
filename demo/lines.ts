// What the demo prints: how to sign in, the key, and lines that work as they stand.
import { DAY_MS } from '../src/contract/days.ts'
import { toWireId } from '../src/contract/ids.ts'
import type { Right } from '../src/contract/rights.ts'
import { EMAIL, NAME } from './workspace.ts'

export type Told = {
  address: string
  isRunning: boolean
  password: string
  key: { secret: string; read: readonly Right[]; write: readonly Right[] }
  /** A click for the conversion, and the public key of a campaign. */
  click_id: string
  campaignKey: string
  clicks: number
  conversions: number
  wasThere: boolean
  /** How the service is started, where it is not running. */
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
${told.isRunning ? '' : `\nSluice is not running; start it with:  ${told.start}\n`}
Dashboard  ${address}
Sign in    ${EMAIL}
Password   ${told.password}
API key    ${key.secret}
  may read   ${key.read.join(', ')}
  may write  ${key.write.join(', ')}
${told.wasThere ? '\nPassword and key are new; those of the earlier run no longer work.\n' : ''}
# The newest clicks
curl -s ${withKey} '${address}/api/v1/clicks?limit=3'

# The last 30 days by campaign
curl -s ${withKey} '${address}/api/v1/report?dimension=campaign&date_from=${day(29)}&date_to=${day(0)}T23:59:59Z'

# A conversion; sent again, it is the same one
curl -s ${withKey} -H 'content-type: application/json' -d '${conversion}' '${address}/api/events'

# An AI host: Claude Code, or the same as settings for others (docs/mcp.md)
claude mcp add --transport http sluice ${address}/api/mcp --header 'x-api-key: ${key.secret}'
${JSON.stringify({ mcpServers: { sluice: { url: `${address}/api/mcp`, headers: { 'x-api-key': key.secret } } } })}

# A click: stored, then redirected with its id
curl -i '${address}/c/${told.campaignKey}?sub1=curl'
`
}

const count = (value: number): string => value.toLocaleString('en-US')

// The demo's output: the sign-in, the key, and lines to run as printed.
import { DAY_MS } from '../src/contract/days.ts'
import { toWireId } from '../src/contract/ids.ts'
import type { Right } from '../src/contract/rights.ts'
import { PAGE_HOSTS } from './page-hosts.ts'
import { EMAIL, NAME } from './workspace.ts'

/** What answers at the address: a Sluice with the demo, one with other data, or nothing. */
export type Answering = 'this' | 'another' | 'nobody'

export type DemoSummary = {
  address: string
  answering: Answering
  password: string
  key: { secret: string; read: readonly Right[]; write: readonly Right[] }
  /** A click for the conversion, and the public key of a campaign. */
  click_id: string
  campaignKey: string
  /** The public key of the campaign whose pages count visits. */
  pageKey: string
  clicks: number
  conversions: number
  wasThere: boolean
  /** The command that starts Sluice with the demo's data. */
  start: string
  now: number
}

export function linesOf(demo: DemoSummary): string {
  const { address, key, now } = demo
  const day = (ago: number) => new Date(now - ago * DAY_MS).toISOString().slice(0, 10)
  const withKey = `-H 'x-api-key: ${key.secret}'`
  const conversion = JSON.stringify({
    clickId: toWireId(demo.click_id),
    type: 'lead',
    payout: '14.50',
    nonce: 'demo-1',
  })
  return `
${NAME}: ${count(demo.clicks)} clicks and ${count(demo.conversions)} conversions in the last 90 days${demo.wasThere ? ', from an earlier run' : ''}.
${startHint(demo)}
Dashboard  ${address}
Sign in    ${EMAIL}
Password   ${demo.password}
API key    ${key.secret}
  may read   ${key.read.join(', ')}
  may write  ${key.write.join(', ')}
${demo.wasThere ? '\nPassword and key are new; the earlier ones no longer work.\n' : ''}
# The newest clicks
curl -sw '\\n' ${withKey} '${address}/api/v1/clicks?limit=3'

# The last 30 days by campaign
curl -sw '\\n' ${withKey} '${address}/api/v1/report?dimension=campaign&date_from=${day(29)}&date_to=${day(0)}T23:59:59Z'

# A conversion; sending it again changes nothing
curl -sw '\\n' ${withKey} -H 'content-type: application/json' -d '${conversion}' '${address}/api/events'

# An AI host: Claude Code, or as settings for other hosts (docs/mcp.md)
claude mcp add --transport http sluice ${address}/api/mcp --header 'x-api-key: ${key.secret}'
${JSON.stringify({ mcpServers: { sluice: { url: `${address}/api/mcp`, headers: { 'x-api-key': key.secret } } } })}

# A page that counts its visits itself: open http://${PAGE_HOSTS[0]}, follow its link, report a conversion
npm run demo:page -- '${address}' '${demo.pageKey}'

# A click: stored, then redirected with its id
curl -i '${address}/c/${demo.campaignKey}?sub1=curl'
`
}

function startHint({ answering, address, start }: DemoSummary): string {
  if (answering === 'this') return ''
  if (answering === 'nobody') return `\nSluice is not running; start it with:  ${start}\n`
  return `\nThe Sluice at ${address} has other data: stop it, then start the demo with:  ${start}\n`
}

const count = (value: number): string => value.toLocaleString('en-US')

/** Where a program behind takes what is passed on: a public https address, or a host and port that the operator has listed. */
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { isPrivateHost } from '../../ground/guard.ts'

type Rules = Pick<Config, 'allowPrivateTargets' | 'relayPrivateHosts' | 'baseUrl'>

/** Whether the operator lets updates be passed on to this host and port inside their network. */
export function isListed(
  { allowPrivateTargets, relayPrivateHosts }: Rules,
  { protocol, hostname, port }: URL,
): boolean {
  const usual = protocol === 'https:' ? '443' : '80'
  return allowPrivateTargets || relayPrivateHosts.includes(`${hostname}:${port === '' ? usual : port}`)
}

/** The address if it may be passed on to; `isSeen`: Telegram was asked whose hook there is. Refuses `invalid_request`. */
export function requireRelayUrl(rules: Rules, address: string | undefined, isSeen: boolean): string {
  if (address === undefined) {
    const why = isSeen ? 'Telegram has no hook of it' : 'Telegram could not be asked for its hook'
    refuse('invalid_request', { error: `relay_url: say where your program takes updates: ${why}` })
  }
  const url = URL.parse(address) ?? refuse('invalid_request', { error: 'relay_url: is no address' })
  const { protocol, hostname, origin, username } = url
  const isInside = isListed(rules, url)
  if (isPrivateHost(hostname) && !isInside)
    refuse('invalid_request', {
      error: 'relay_url: its host is private, and updates are not passed on there',
      hint: 'Whoever runs this server can list the host and port in RELAY_PRIVATE_HOSTS.',
    })
  if (protocol !== 'https:' && !isInside) refuse('invalid_request', { error: 'relay_url: must begin with https://' })
  if (username !== '') refuse('invalid_request', { error: 'relay_url: must not hold a name and a password' })
  if (rules.baseUrl !== undefined && origin === new URL(rules.baseUrl).origin)
    refuse('invalid_request', { error: 'relay_url: leads back to Sluice itself' })
  return address
}

/** Checks the URL that updates are forwarded to: public https, or a private host and port that the operator has listed. */
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { isPrivateHost } from '../../ground/guard.ts'

type RelayRules = Pick<Config, 'allowPrivateTargets' | 'relayPrivateHosts' | 'baseUrl'>

/** Whether the operator allows forwarding to this host and port inside their network. */
export function isListedHost(
  { allowPrivateTargets, relayPrivateHosts }: RelayRules,
  { protocol, hostname, port }: URL,
): boolean {
  const usual = protocol === 'https:' ? '443' : '80'
  return allowPrivateTargets || relayPrivateHosts.includes(`${hostname}:${port === '' ? usual : port}`)
}

/** Returns the URL if forwarding to it is allowed. `isHookKnown`: Telegram has told the current webhook. Refuses `invalid_request`. */
export function requireRelayUrl(rules: RelayRules, address: string | undefined, isHookKnown: boolean): string {
  if (address === undefined) {
    const why = isHookKnown ? 'the bot has no webhook' : 'Telegram could not be asked for its webhook'
    refuse('invalid_request', { error: `relay_url: send the URL where your program receives updates: ${why}` })
  }
  const url = URL.parse(address) ?? refuse('invalid_request', { error: 'relay_url: is not a URL' })
  const { protocol, hostname, origin, username } = url
  const isInside = isListedHost(rules, url)
  if (isPrivateHost(hostname) && !isInside)
    refuse('invalid_request', {
      error: 'relay_url: its host is private, and updates are not forwarded there',
      hint: 'The operator of this server can list the host and port in RELAY_PRIVATE_HOSTS.',
    })
  if (protocol !== 'https:' && !isInside) refuse('invalid_request', { error: 'relay_url: must begin with https://' })
  if (username !== '') refuse('invalid_request', { error: 'relay_url: must not contain a user name or password' })
  if (rules.baseUrl !== undefined && origin === new URL(rules.baseUrl).origin)
    refuse('invalid_request', { error: 'relay_url: points to Sluice itself' })
  return address
}

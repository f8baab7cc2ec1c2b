/** The texts of the problems of domains, each with its fix. */
import type { DomainProblem, ProblemCode } from './api.ts'

/** The values in the texts. */
type ProblemValues = {
  readonly name: string
  /** The IP addresses that have the problem. */
  readonly addresses?: readonly string[]
  /** The authorities that may issue certificates. */
  readonly issuers?: readonly string[]
  /** Why the TXT record is needed. */
  readonly reason?: string
}

const listed = (texts: readonly string[] = []): string => texts.join(', ')

/** The authority that Caddy and certbot use by default. */
export const CERTIFICATE_AUTHORITY = 'letsencrypt.org'

const WORDS: Readonly<Record<ProblemCode, (values: ProblemValues) => [text: string, cure: string]>> = {
  no_such_name: ({ name }) => [
    `DNS has no address for ${name}.`,
    'Set the records at your DNS provider. A new record works within minutes, a changed one after its TTL.',
  ],
  points_elsewhere: ({ addresses }) => [
    `Nothing answers at ${listed(addresses)}, or the address is internal.`,
    'Point the name at this server, and open ports 80 and 443 to the internet.',
  ],
  ipv6_elsewhere: ({ addresses }) => [
    `The name’s IPv6 address leads elsewhere: ${listed(addresses)}. Visitors with IPv6 and certificate authorities go there.`,
    'Delete or correct the AAAA record.',
  ],
  mixed_addresses: ({ addresses }) => [
    `Some addresses do not lead here: ${listed(addresses)}. Some visitors are lost.`,
    'Delete the records with these addresses.',
  ],
  port_80_closed: () => [
    'Port 80 is closed, so links with http do not work.',
    'Open port 80 as well as 443. Certificate authorities need it too.',
  ],
  other_server: ({ addresses }) => [
    `Another server answers at ${listed(addresses)}.`,
    'Point the name at this server. If it points here already, add the name to the proxy in front, or let the proxy pass on all names.',
  ],
  host_not_forwarded: () => [
    'Requests arrive with another name: the proxy in front changes the Host header.',
    'Pass the Host header on. For nginx: proxy_set_header Host $host;',
  ],
  redirect_loop: () => [
    'http and https redirect to each other in a loop.',
    'Behind Cloudflare, set SSL/TLS to Full instead of Flexible. Otherwise remove one of the two redirects.',
  ],
  txt_missing: ({ name, reason }) => [
    `There is no TXT record at _sluice.${name}. ${reason}`,
    'Add the TXT record shown above, and leave it there.',
  ],
  txt_wrong: ({ name, reason }) => [
    `The TXT record at _sluice.${name} has another value. ${reason}`,
    'Add the value shown above. Other values may stay.',
  ],
  held_by_other: () => [
    'Another organization on this server uses the name, and its own TXT record is still there.',
    'If the name is yours, delete the other organization’s value from the TXT record. After three checks without it, the name is yours here.',
  ],
  caa_forbids: ({ name, issuers }) => [
    `A CAA record allows only ${listed(issuers)} to issue certificates for the name.`,
    `Add a CAA record: ${name} CAA 0 issue "${CERTIFICATE_AUTHORITY}"`,
  ],
  dns_broken: ({ name }) => [
    `DNS answers with an error for ${name}.`,
    'Check its name servers, and DNSSEC: an invalid signature causes this error.',
  ],
  dns_silent: () => [
    'The DNS server that Sluice uses does not answer. Nothing was changed.',
    'Check the DNS of this machine, or set DNS_SERVERS.',
  ],
  https_only_zone: ({ name }) => [
    `Browsers open names under .${name.split('.').at(-1)} only with https, and there is no certificate yet.`,
    'Links work once there is a certificate.',
  ],
}

/** A problem with its texts. */
export function problem(code: ProblemCode, values: ProblemValues): DomainProblem {
  const [text, cure] = WORDS[code](values)
  return { code, text, cure }
}

/** Why a domain does not work, in words, each with its cure. */
import type { Problem, ProblemCode } from './api.ts'

/** What the words speak of. */
type Of = {
  readonly name: string
  /** The addresses that are meant, shown as they are. */
  readonly addresses?: readonly string[]
  /** Whoever may issue certificates. */
  readonly issuers?: readonly string[]
  /** Why the TXT record is asked for. */
  readonly reason?: string
}

const listed = (texts: readonly string[] = []): string => texts.join(', ')

/** Whose certificates Caddy and certbot get unless they are told otherwise. */
export const CERTIFICATE_AUTHORITY = 'letsencrypt.org'

const WORDS: Readonly<Record<ProblemCode, (of: Of) => [text: string, cure: string]>> = {
  no_such_name: ({ name }) => [
    `DNS knows no address of ${name}.`,
    'Set the records at whoever keeps the DNS of this name. A new record is seen within minutes, a changed one after its TTL.',
  ],
  points_elsewhere: ({ addresses }) => [
    `Nobody answers at ${listed(addresses)}, or it is an address inside a network.`,
    'Point the name at this server, and open ports 80 and 443 to the outside.',
  ],
  ipv6_elsewhere: ({ addresses }) => [
    `By IPv6 the name leads elsewhere: ${listed(addresses)}. Visitors with IPv6, and authorities that issue certificates, go there.`,
    'Delete the AAAA record, or mend it.',
  ],
  mixed_addresses: ({ addresses }) => [
    `Some addresses do not lead here: ${listed(addresses)}. Part of the visitors is lost.`,
    'Delete the records with these addresses.',
  ],
  port_80_closed: () => [
    'Port 80 is closed: links by http lead nowhere.',
    'Open port 80 beside 443. Authorities that issue certificates ask there as well.',
  ],
  other_server: ({ addresses }) => [
    `Another server answers at ${listed(addresses)}.`,
    'Point the name at this server. If it does already, its proxy does not know the name: add it there, or let it pass on every name.',
  ],
  host_not_forwarded: () => [
    'Requests come here, but under another name: the proxy in front changes the Host header.',
    'Hand it on. For nginx: proxy_set_header Host $host;',
  ],
  redirect_loop: () => [
    'http and https send visitors to each other for ever.',
    'Behind Cloudflare set SSL/TLS to Full in place of Flexible; else take one of the two redirects away.',
  ],
  txt_missing: ({ name, reason }) => [
    `There is no TXT record at _sluice.${name} that shows that the name is yours. ${reason}`,
    'Add the record that is shown. It may stay for as long as the name is used.',
  ],
  txt_wrong: ({ name, reason }) => [
    `The TXT record at _sluice.${name} holds another value. ${reason}`,
    'Add the value that is shown. Others may stand beside it.',
  ],
  held_by_other: () => [
    'Another organization on this server uses the name, and its own TXT record is still there.',
    'If the name is yours, delete its value at the TXT record: after three checks without it the name is yours here.',
  ],
  caa_forbids: ({ name, issuers }) => [
    `A CAA record lets only ${listed(issuers)} issue certificates for the name.`,
    `Add one: ${name} CAA 0 issue "${CERTIFICATE_AUTHORITY}"`,
  ],
  dns_broken: ({ name }) => [
    `DNS answers with an error when it is asked for ${name}.`,
    'Look at its name servers, and at DNSSEC: a signature that does not fit looks like this.',
  ],
  dns_silent: () => [
    'The DNS server that Sluice asks does not answer. Nothing was changed.',
    'Look at the DNS of this machine, or set DNS_SERVERS.',
  ],
  https_only_zone: ({ name }) => [
    `Browsers open names under .${name.split('.').at(-1)} by https alone, and no certificate is in service.`,
    'Nothing opens before there is one.',
  ],
}

/** A problem with its words. */
export function problem(code: ProblemCode, of: Of): Problem {
  const [text, cure] = WORDS[code](of)
  return { code, text, cure }
}

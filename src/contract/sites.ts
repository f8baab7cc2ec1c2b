/** Sites: the hosts whose pages may count visits of a campaign, such as `shop.example`, `*.shop.example` or `127.0.0.1:8123`. */
import { z } from 'zod'

const MOST_SITES = 50

/** The normal form of a site; undefined for a text that is none. */
function siteOf(text: string): string | undefined {
  const isWild = text.startsWith('*.')
  const rest = isWild ? text.slice(2) : text
  if (!/^(\[[0-9a-f:.]+\]|[^\s/?#@\\:*[\]]+)(:\d{1,5})?$/i.test(rest) || !URL.canParse(`http://${rest}`))
    return undefined
  const { host, hostname } = new URL(`http://${rest}`)
  if (isWild && !/^[^.]+(\.[^.]+)*\.[^.\d]+$/.test(hostname)) return undefined
  return isWild ? `*.${host}` : host
}

const Site = z
  .string()
  .trim()
  .max(255)
  .transform((sent, context) => {
    const site = siteOf(sent)
    if (site !== undefined) return site
    context.addIssue({
      code: 'custom',
      message: 'must be a host such as shop.example, *.shop.example or 127.0.0.1:8123',
    })
    return z.NEVER
  })

/** The sites of a campaign in a request: each once. */
export const Sites = z
  .array(Site)
  .max(MOST_SITES)
  .transform(sites => [...new Set(sites)])
  .meta({
    description:
      'The hosts whose pages may count visits: shop.example, *.shop.example (its subdomains) or 127.0.0.1:8123. Without a port, 80 and 443 are meant. Empty: no page may. API keys cannot change this',
  })

const USUAL_PORTS: readonly string[] = ['', '80', '443']

/** Whether an address of a page is of one of the sites. */
export function isOfSites(sites: readonly string[], { hostname, port, protocol }: URL): boolean {
  const isUsual = USUAL_PORTS.includes(port)
  const exact = `:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
  return sites.some(site => {
    const isWild = site.startsWith('*.')
    const of = isWild ? site.slice(1) : site
    const isHost = (host: string) => (isWild ? host.endsWith(of) && host.length > of.length : host === of)
    return (isUsual && isHost(hostname)) || isHost(hostname + exact)
  })
}

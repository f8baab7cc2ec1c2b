/**
 * Corrects mistyped links of visitors and networks: extra slashes, upper case, parameters after `&` instead of `?`. Such a call is worth
 * money, so it must not fail. No other address is corrected, so that a path a proxy blocks stays blocked.
 */
const LINK = /^\/+(c|o|l|postback|sluice\.js)(?:\/+([^/?#&]+))?\/*(?:(&)|(?=[?#]|$))/i

/** The address with the path of its route. The query, and every other address, is left unchanged. */
export function corrected(url: string): string {
  const link = LINK.exec(url)
  if (link === null) return url
  const [sent, name = '', rest, ampersand] = link
  const path = rest === undefined ? `/${name.toLowerCase()}` : `/${name.toLowerCase()}/${rest}`
  const right = ampersand === undefined ? path : `${path}?`
  return sent === right ? url : right + url.slice(sent.length)
}

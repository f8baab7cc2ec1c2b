/**
 * The addresses that visitors and networks call, as pasting, editors and networks leave them: with a slash too many, in other letters, their
 * parameters behind `&` alone. Whoever comes by one was paid for or is paid by it. No other address is put right: what a proxy closes by its
 * path stays closed.
 */
const CALLED = /^\/+(c|o|l|postback|sluice\.js)(?:\/+([^/?#&]+))?\/*(?:(&)|(?=[?#]|$))/i

/** The address as its route knows it; what follows the path is left alone, as is every other address. */
export function spelledRight(url: string): string {
  const called = CALLED.exec(url)
  if (called === null) return url
  const [sent, name = '', rest, ampersand] = called
  const path = rest === undefined ? `/${name.toLowerCase()}` : `/${name.toLowerCase()}/${rest}`
  const right = ampersand === undefined ? path : `${path}?`
  return sent === right ? url : right + url.slice(sent.length)
}

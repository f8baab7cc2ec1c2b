/** Why members see a network's postback URL without its token. */
export const WITHHELD =
  'Anyone who knows the whole URL can record conversions, so only owners and admins see its secret part.'

/** Why the URL cannot be copied; undefined if it is shown whole. */
export const reasonAgainstCopying = ({ token_withheld }: { token_withheld: boolean }): string | undefined =>
  token_withheld ? WITHHELD : undefined

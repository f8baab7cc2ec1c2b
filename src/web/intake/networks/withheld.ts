/** Why members read a network's address without its token. */
export const WITHHELD =
  'Whoever knows the whole address can record conversions, so its secret part is shown to owners and admins only.'

/** Why the address cannot be copied, or undefined where it stands whole. */
export const reasonAgainstCopying = ({ token_withheld }: { token_withheld: boolean }): string | undefined =>
  token_withheld ? WITHHELD : undefined

/** The name of a rule, which has none of its own: the type of its conversions and the host that it calls. */
export const ruleName = ({ event_type, url }: { readonly event_type: string | null; readonly url: string }): string =>
  `${event_type ?? ''} ${URL.parse(url)?.host ?? ''}`.trim()

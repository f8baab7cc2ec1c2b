// The links of a batch as one text. A row or an object per link would slow the database and garbage collection where thousands are free.

export type BatchLink = { readonly id: string; readonly url: string }

export const linkWordsOf = (links: readonly BatchLink[]): string => links.map(({ id, url }) => `${id} ${url}`).join(' ')

export function linksOf(words: string): BatchLink[] {
  if (words === '') return []
  const parts = words.split(' ')
  return Array.from({ length: parts.length / 2 }, (_, at) => ({
    id: parts[2 * at] ?? '',
    url: parts[2 * at + 1] ?? '',
  }))
}

/** Tags in lists: a coloured dot with its name beside a row's name, and the filter by a tag. */
import { useQuery } from '@tanstack/react-query'
import { listTags, type Tag } from '../../../traffic/tags/api.ts'
import { ask } from '../call.ts'
import { Choice } from '../ui/choice.tsx'

/** Of equal lightness, so that none looks more important. */
const TAG_HUES: Readonly<Record<Tag['color'], string>> = {
  gray: 'oklch(0.65 0.01 250)',
  red: 'oklch(0.65 0.19 25)',
  orange: 'oklch(0.7 0.16 55)',
  yellow: 'oklch(0.75 0.14 95)',
  green: 'oklch(0.65 0.15 150)',
  teal: 'oklch(0.67 0.11 195)',
  blue: 'oklch(0.62 0.16 255)',
  purple: 'oklch(0.6 0.18 305)',
  pink: 'oklch(0.68 0.18 355)',
}

export const useTags = () => useQuery(ask(listTags, { query: { limit: 200 } })).data?.data ?? []

export const TagDot = ({ color }: Pick<Tag, 'color'>) => (
  <span aria-hidden className="inline-block size-2 rounded-full" style={{ background: TAG_HUES[color] }} />
)

/** The tags of a row. */
export function TagDots({ ids }: { ids: readonly string[] }) {
  const tags = useTags().filter(({ id }) => ids.includes(id))
  if (tags.length === 0) return null
  return (
    <span className="ml-2 inline-flex gap-1 align-middle" title={tags.map(({ name }) => name).join(', ')}>
      {tags.map(({ id, name, color }) => (
        <span key={id} className="inline-flex items-center">
          <TagDot color={color} />
          <span className="sr-only">{name}</span>
        </span>
      ))}
    </span>
  )
}

/** Filters a list by a tag. It is not shown while the workspace has no tags. */
export function TagChoice({
  value,
  onChange,
}: {
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const tags = useTags()
  if (tags.length === 0) return null
  return (
    <Choice
      label="Tag"
      any="Any tag"
      options={tags.map(({ id }) => id)}
      words={id => tags.find(tag => tag.id === id)?.name ?? ''}
      value={value}
      onChange={onChange}
    />
  )
}

/** A person's picture or initials. Hidden from screen readers, because the name stands beside it. */
import { clsx } from 'clsx'

type FaceProps = { name: string; image?: string | null | undefined; size?: 'md' | 'lg' }

const SIZES = { md: 'size-7 text-sm', lg: 'size-16 text-xl' } as const

export function Face({ name, image, size = 'md' }: FaceProps) {
  const look = clsx('shrink-0 rounded-full', SIZES[size])
  if (typeof image === 'string') return <img src={image} alt="" className={clsx(look, 'object-cover')} />
  return (
    <span aria-hidden className={clsx(look, 'grid place-items-center bg-accent-soft font-semibold text-accent')}>
      {initials(name)}
    </span>
  )
}

function initials(name: string): string {
  const [first = '', ...others] = name.split(/\s+/).flatMap(part => Array.from(part).slice(0, 1))
  return (first + (others.at(-1) ?? '')).toUpperCase()
}

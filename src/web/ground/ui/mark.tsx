/** Sluice's logo: a lifted gate between two posts, with water running under it. */
function Mark({ className = 'size-6' }: { className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 24 24" fill="none" className={className}>
      <path d="M4 3v18M20 3v18" className="stroke-ink" strokeWidth="2.2" strokeLinecap="round" />
      <path d="M6.500 4.500h11v6.500h-11z" className="fill-ink" />
      <path
        d="M6.500 15.200c1.800-1.500 3.700-1.500 5.500 0s3.700 1.500 5.500 0M6.500 19.600c1.800-1.500 3.700-1.500 5.500 0s3.700 1.500 5.500 0"
        className="stroke-accent"
        strokeWidth="2"
        strokeLinecap="round"
      />
    </svg>
  )
}

export function Wordmark() {
  return (
    <span className="inline-flex items-center gap-2">
      <Mark />
      <span className="text-lg font-semibold tracking-tight">Sluice</span>
    </span>
  )
}

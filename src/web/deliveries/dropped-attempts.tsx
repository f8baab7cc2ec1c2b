/** Says that attempts were made whose log is no longer kept, so that nothing shown is not taken for nothing done. */
export function DroppedAttempts({ count, className = '' }: { count: number; className?: string }) {
  if (count === 0) return null
  return (
    <p className={`text-ink-soft ${className}`}>
      {count === 1
        ? 'The log of the first attempt is no longer kept.'
        : `The logs of the first ${count} attempts are no longer kept.`}
    </p>
  )
}

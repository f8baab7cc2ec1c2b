/** Says that attempts were made whose log is no longer kept, so that nothing shown is not taken for nothing done. */
export function DroppedAttempts({ of, className = '' }: { of: Logged; className?: string }) {
  const { attempts_dropped: count, history } = of
  if (count === 0) return null
  const which = history.length > 0 ? 'the first' : 'its'
  return (
    <p className={`text-ink-soft ${className}`}>
      {count === 1
        ? `The log of ${which} attempt is no longer kept.`
        : `The logs of ${which} ${count} attempts are no longer kept.`}
    </p>
  )
}

type Logged = { attempts_dropped: number; history: readonly unknown[] }

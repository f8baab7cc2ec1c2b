/** Says that the log of some attempts has been deleted, so that a missing log is not read as "never attempted". */
export function DroppedAttempts({ of, className = '' }: { of: AttemptLog; className?: string }) {
  const { attempts_dropped: count, history } = of
  if (count === 0) return null
  const which = history.length > 0 ? 'the first' : 'its'
  return (
    <p className={`text-ink-soft ${className}`}>
      {count === 1
        ? `The log of ${which} attempt has been deleted.`
        : `The logs of ${which} ${count} attempts have been deleted.`}
    </p>
  )
}

type AttemptLog = { attempts_dropped: number; history: readonly unknown[] }

/** Whether the screen is as narrow as a phone's, for layouts that CSS alone cannot change. */
import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(width < 40rem)')

function subscribe(changed: () => void): () => void {
  narrow.addEventListener('change', changed)
  return () => narrow.removeEventListener('change', changed)
}

export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)

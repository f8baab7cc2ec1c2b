/** Whether the screen is a phone's: for what stands in another order there, which styles alone cannot say. */
import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(width < 40rem)')

function subscribe(changed: () => void): () => void {
  narrow.addEventListener('change', changed)
  return () => narrow.removeEventListener('change', changed)
}

export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)

/** The theme: light, dark, or the system's. Stored in this browser. */
import { useSyncExternalStore } from 'react'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const listeners = new Set<() => void>()

function chosen(): Theme {
  const stored = localStorage.getItem('theme')
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/** Sets the attribute that the stylesheet reads. Without it, the stylesheet follows the system. */
export function paintTheme() {
  const theme = chosen()
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function chooseTheme(theme: Theme) {
  if (theme === 'system') localStorage.removeItem('theme')
  else localStorage.setItem('theme', theme)
  paintTheme()
  for (const tell of listeners) tell()
}

export function useTheme(): Theme {
  return useSyncExternalStore(tell => {
    listeners.add(tell)
    return () => listeners.delete(tell)
  }, chosen)
}

/** Light, dark or as the system says; remembered in this browser. */
import { useSyncExternalStore } from 'react'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const listeners = new Set<() => void>()

function chosen(): Theme {
  const stored = localStorage.getItem('theme')
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/** Tells the stylesheet; without an attribute it follows the system by itself. */
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

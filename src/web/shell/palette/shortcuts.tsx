/** The keys that work on every page: Ctrl-K and / open the palette, ? lists the keys, g and a letter open a page. */
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Dialog, DialogBody } from '../../ground/ui/dialog.tsx'
import { useHidden } from '../navigation-links.tsx'
import { NAVIGATION, type NavigationLink } from '../navigation.ts'

const load = () => import('./palette.tsx')
const Palette = lazy(async () => ({ default: (await load()).Palette }))

/** How long the letter after g may take. */
const LETTER_MS = 1500

/** Where letters are typed, or a dialog or a menu takes the keys. */
const TYPED_IN = 'input, textarea, select, [contenteditable=true], [role=textbox]'
const ABOVE = '[role=dialog][data-open], [role=alertdialog][data-open], [role=menu]'

type ShortcutsProps = { isFinding: boolean; onFind: (open: boolean) => void }

export function Shortcuts({ isFinding, onFind }: ShortcutsProps) {
  const navigate = useNavigate()
  const isHidden = useHidden()
  const [isListed, setListed] = useState(false)
  const [wasOpened, setOpened] = useState(false)
  const went = useRef(-Infinity)
  if (isFinding && !wasOpened) setOpened(true)
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isAbove = document.querySelector(ABOVE) !== null
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      if (isAbove && !isFinding) return
      event.preventDefault()
      onFind(!isFinding)
      return
    }
    const target = event.target instanceof Element ? event.target : null
    if (event.ctrlKey || event.metaKey || event.altKey || isAbove || target?.closest(TYPED_IN) != null) return
    const isLetter = event.timeStamp - went.current < LETTER_MS
    went.current = -Infinity
    const link = isLetter ? linkOf(event.key) : undefined
    if (link !== undefined && !isHidden(link.link.to)) void navigate(link.link)
    else if (event.key === '/') onFind(true)
    else if (event.key === '?') setListed(true)
    else if (event.key === 'g') {
      went.current = event.timeStamp
      return
    } else return
    event.preventDefault()
  })
  useEffect(() => {
    // Early, so that the first letters after Ctrl-K already reach the palette.
    void load().catch(() => undefined)
    const listen = (event: KeyboardEvent) => press(event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
  return (
    <>
      {wasOpened && (
        <Suspense fallback={null}>
          <Palette open={isFinding} onClose={() => onFind(false)} />
        </Suspense>
      )}
      <Dialog open={isListed} onClose={() => setListed(false)} title="Keyboard shortcuts">
        <DialogBody>
          <Keys links={LINKS.filter(({ link }) => !isHidden(link.to))} />
        </DialogBody>
      </Dialog>
    </>
  )
}

const LINKS = NAVIGATION.flatMap(({ links }) => links).filter(({ key }) => key !== undefined)
const linkOf = (key: string) => LINKS.find(link => link.key === key)

function Keys({ links }: { links: readonly NavigationLink[] }) {
  const listed: readonly [keys: string, words: string][] = [
    ['Ctrl K or /', 'Find pages, objects and acts'],
    ['?', 'This list'],
    ...links.map(({ key, label }) => [`g ${key}`, label] as [string, string]),
  ]
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
      {listed.map(([keys, words]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="rounded border border-line bg-sunken px-1.5 py-0.5 font-mono text-sm">{keys}</kbd>
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The palette: finds pages, acts and objects from the keyboard, and does what is chosen. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { Search } from 'lucide-react'
import { useRef, useState } from 'react'
import { type PaletteGroup, type PaletteItem, usePalette } from './items.ts'

type PaletteProps = { open: boolean; onClose: () => void }

export function Palette({ open, onClose }: PaletteProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <Dialog.Root open={open} onOpenChange={next => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Viewport className="fixed inset-0 z-40 flex items-start justify-center overflow-hidden px-2 pt-3 sm:pt-[12vh]">
          <Dialog.Popup
            aria-label="Find"
            initialFocus={input}
            className="popup flex max-h-[min(32rem,calc(100dvh-1.5rem))] w-full flex-col overflow-hidden sm:max-w-xl"
          >
            <Finder input={input} onDone={onClose} />
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

type FinderProps = { input: React.RefObject<HTMLInputElement | null>; onDone: () => void }

function Finder({ input, onDone }: FinderProps) {
  const [text, setText] = useState('')
  const { groups, status } = usePalette(text)
  const choose = ({ run, fills }: PaletteItem) => {
    if (fills !== undefined) {
      setText(fills)
      input.current?.focus()
      return
    }
    onDone()
    run?.()
  }
  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      items={groups}
      value={text}
      onValueChange={(value, { reason }) => {
        if (reason !== 'item-press') setText(value)
      }}
      itemToStringValue={(item: PaletteItem) => item.label}
      autoHighlight="always"
      keepHighlight
    >
      <div className="relative border-b border-line">
        <Search aria-hidden className="pointer-events-none absolute top-3.5 left-4 size-4 text-ink-faint" />
        <Autocomplete.Input
          ref={input}
          aria-label="Find pages, objects and acts"
          placeholder="Find a page or an object, or paste an id"
          spellCheck={false}
          className="h-11 w-full bg-transparent pr-4 pl-10 outline-none placeholder:text-ink-faint"
        />
      </div>
      <div className="min-h-0 overflow-y-auto overscroll-contain">
        <Autocomplete.List className="scroll-py-1 px-2 pb-2 outline-none">
          {(group: PaletteGroup) => (
            <Autocomplete.Group key={group.value} items={group.items}>
              <Autocomplete.GroupLabel className="px-2 pt-2 pb-0.5 text-sm text-ink-faint">
                {group.value}
              </Autocomplete.GroupLabel>
              <Autocomplete.Collection>
                {(item: PaletteItem) => <Choice key={item.id} item={item} onChoose={() => choose(item)} />}
              </Autocomplete.Collection>
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
      </div>
      <footer className="flex justify-between gap-4 border-t border-line px-4 py-2 text-sm text-ink-faint">
        <Autocomplete.Status>{status}</Autocomplete.Status>
        <span aria-hidden className="max-sm:hidden">
          ↑↓ Enter Esc
        </span>
      </footer>
    </Autocomplete.Root>
  )
}

function Choice({ item, onChoose }: { item: PaletteItem; onChoose: () => void }) {
  return (
    <Autocomplete.Item
      value={item}
      onClick={onChoose}
      className="flex min-h-8 cursor-default items-center gap-4 rounded-md px-2 select-none data-highlighted:bg-accent-soft data-highlighted:text-accent pointer-coarse:min-h-10"
    >
      <span className="min-w-0 flex-1 truncate font-medium">{item.label}</span>
      {item.hint !== undefined && <span className="shrink-0 text-sm text-ink-faint">{item.hint}</span>}
    </Autocomplete.Item>
  )
}

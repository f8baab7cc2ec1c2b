/** The menu of saved views: open, save, change and delete them. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Bookmark, House, Pencil, Plus, Save, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { deleteExploreView, listExploreViews, updateExploreView } from '../../../reading/explore-views/api.ts'
import { onlyFor, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { isSame, type Kept, keptOf, type Screen, screenOf, type View } from './kept.ts'
import type { Question } from './question.ts'
import type { ExploreSearch } from './search.ts'
import { ViewDialog } from './view-dialog.tsx'

type ViewsMenuProps = {
  /** The question on the screen. Its window is not saved, because `screen` has the days as they were chosen. */
  question: Question
  /** The address of the screen, with its columns. */
  screen: Screen
  /** Whether the address has no parameters. */
  isBare: boolean
  /** Adds the columns that an address leaves out. */
  complete: (screen: ExploreSearch) => ExploreSearch
  /** Shows a view. `isStart`: it is the start page of an address without parameters. */
  onOpen: (view: View, isStart: boolean) => void
}

export function ViewsMenu({ question, screen, isBare, complete, onOpen }: ViewsMenuProps) {
  const views = useQuery(ask(listExploreViews)).data?.data
  const kept = keptOf(question, screen)
  const [openedId, setOpenedId] = useState<string>()
  const [editing, setEditing] = useState<View | 'new'>()
  const isAlike = (view: View) => isSame(complete(screenOf(view, screen)), kept.screen)
  useStartPage(views, isBare, view => {
    setOpenedId(view.id)
    onOpen(view, true)
  })
  const shown = views?.find(view => view.id === openedId) ?? views?.find(isAlike)
  const choose = (id: string) => {
    const view = views?.find(one => one.id === id)
    if (view === undefined) return
    if (view.question === null) return notify(`${view.name} needs a newer version of Sluice`)
    setOpenedId(view.id)
    onOpen(view, false)
  }
  const isChanged = shown !== undefined && !isAlike(shown)
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button icon={Bookmark}>
            <span className="max-w-48 truncate">
              {shown === undefined ? 'Views' : `${shown.name}${isChanged ? ' *' : ''}`}
            </span>
          </Button>
        }
      >
        <Choices title="My views" views={views?.filter(view => !view.is_shared)} shown={shown} onChoose={choose} />
        <Choices title="Shared views" views={views?.filter(view => view.is_shared)} shown={shown} onChoose={choose} />
        {views !== undefined && views.length > 0 && <MenuLine />}
        <MenuItem icon={Plus} onSelect={() => setEditing('new')}>
          Save as a view
        </MenuItem>
        {shown !== undefined && (
          <OfShown
            view={shown}
            kept={isChanged ? kept : undefined}
            onEdit={() => setEditing(shown)}
            onDeleted={() => setOpenedId(undefined)}
          />
        )}
      </Menu>
      <ViewDialog
        view={editing === 'new' ? undefined : editing}
        kept={kept}
        open={editing !== undefined}
        onClose={() => setEditing(undefined)}
        onSaved={({ id }) => setOpenedId(id)}
      />
    </>
  )
}

/** Opens the start page once where the address has no parameters, so that Back can return to the bare page. */
function useStartPage(views: readonly View[] | undefined, isBare: boolean, onStart: (view: View) => void): void {
  const isDone = useRef(!isBare)
  useEffect(() => {
    if (isDone.current || views === undefined) return
    isDone.current = true
    const starts = views.filter(view => view.is_start_page && view.question !== null)
    const start = starts.find(view => !view.is_shared) ?? starts[0]
    if (start !== undefined) onStart(start)
  })
}

type ChoicesProps = {
  title: string
  views: readonly View[] | undefined
  shown: View | undefined
  onChoose: (id: string) => void
}

function Choices({ title, views = [], shown, onChoose }: ChoicesProps) {
  if (views.length === 0) return null
  const options = views.map(view => ({
    value: view.id,
    label: (
      <>
        {view.name}
        {view.is_start_page && <House aria-label="Start page" className="ml-1.5 inline size-3 text-ink-faint" />}
      </>
    ),
  }))
  return <MenuChoice label={title} value={shown?.id ?? ''} options={options} onChange={onChoose} />
}

type OfShownProps = {
  view: View
  /** The state of the screen, where it differs from the view. */
  kept: Kept | undefined
  onEdit: () => void
  onDeleted: () => void
}

function OfShown({ view, kept, onEdit, onDeleted }: OfShownProps) {
  const { role } = useActive()
  const refresh = useRefresh()
  const confirm = useConfirm()
  const saving = useMutation({
    mutationFn: (body: Kept) => call(updateExploreView, { params: { id: view.id }, body }),
    onSuccess: async () => {
      await refresh(listExploreViews)
      notify(`${view.name} is saved`)
    },
    onError: error => notify(`${view.name} is not saved`, error.message),
  })
  const reason = view.is_shared && role === 'member' ? onlyFor('admin', role) : undefined
  const remove = () =>
    confirm({
      title: `Delete ${view.name}?`,
      words: view.is_shared
        ? 'It is deleted for everyone in the workspace. No figures are lost.'
        : 'No figures are lost.',
      action: 'Delete view',
      deed: () => call(deleteExploreView, { params: { id: view.id } }).then(onDeleted),
      refresh: [listExploreViews],
      news: `${view.name} is deleted`,
    })
  return (
    <>
      {kept !== undefined && (
        <MenuItem icon={Save} reason={reason} onSelect={() => saving.mutate(kept)}>
          Save changes to {view.name}
        </MenuItem>
      )}
      <MenuItem icon={Pencil} reason={reason} onSelect={onEdit}>
        Rename or share
      </MenuItem>
      <MenuItem icon={Trash2} danger reason={reason} onSelect={remove}>
        Delete
      </MenuItem>
    </>
  )
}

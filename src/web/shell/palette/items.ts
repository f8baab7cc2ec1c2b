/** The items of the palette: pages, acts, and found objects. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { findObjects } from '../../../people/find/api.ts'
import { setCampaignStatus } from '../../../traffic/campaigns/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask } from '../../ground/call.ts'
import { useSettled } from '../../ground/settled.ts'
import { notify } from '../../ground/ui/toast.tsx'
import { useCampaignActs } from '../../traffic/campaigns/state.tsx'
import { useHidden } from '../navigation-links.tsx'
import { NAVIGATION } from '../navigation.ts'
import { type Found, placeOf, foundInWords } from './places.ts'

/** `run` does what the item says. With `fills` it only continues the text. */
export type PaletteItem = {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly run?: () => void
  readonly fills?: string
}
export type PaletteGroup = { readonly value: string; readonly items: readonly PaletteItem[] }

const PAUSE_MS = 80
const SHORTEST = 2
const ACTS = ['pause', 'resume', 'archive'] as const
type CampaignAct = (typeof ACTS)[number]

const ACT_WORDS: Record<CampaignAct, string> = { pause: 'Pause', resume: 'Resume', archive: 'Archive' }

/** "pause summer" as its act and the name, or the text as it is. */
function readText(text: string): { act?: CampaignAct; sought: string } {
  const [, word = '', name = ''] = /^(\S+)\s+(.*)$/.exec(text.trimStart()) ?? []
  const act = ACTS.find(one => one === word.toLowerCase())
  return act === undefined ? { sought: text.trim() } : { act, sought: name.trim() }
}

const begins = (label: string, text: string) =>
  label.toLowerCase().startsWith(text) || label.toLowerCase().includes(` ${text}`)

/** What the palette shows for the text, and how it is announced. */
export function usePalette(text: string): { groups: readonly PaletteGroup[]; status: string } {
  const { role } = useActive()
  const mayAct = reasonAgainst(setCampaignStatus, role) === undefined
  const { act, sought } = mayAct ? readText(text) : { act: undefined, sought: text.trim() }
  const settled = useSettled(sought, PAUSE_MS)
  const isLong = settled.length >= SHORTEST
  const query = useQuery({
    ...ask(findObjects, { query: { q: settled } }),
    enabled: isLong,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const found = isLong && sought.length >= SHORTEST ? (query.data?.data ?? []) : []
  const pages = usePages(act === undefined ? sought : undefined)
  const acts = useActs(act, found, mayAct ? text.trim() : undefined)
  const objects = useObjects(act === undefined ? found : [])
  const groups = [pages, acts, objects].filter(({ items }) => items.length > 0)
  const count = groups.reduce((sum, { items }) => sum + items.length, 0)
  const isSearching = query.isFetching || settled !== sought
  return { groups, status: statusOf(count, isSearching, query.error) }
}

function statusOf(count: number, isSearching: boolean, error: Error | null): string {
  if (isSearching) return 'Searching…'
  if (count === 0 && error !== null) return error.message
  return count === 0 ? 'Nothing found' : count === 1 ? '1 result' : `${count} results`
}

/** The pages whose name begins with the text; all without a text. */
function usePages(text: string | undefined): PaletteGroup {
  const navigate = useNavigate()
  const isHidden = useHidden()
  const links = NAVIGATION.flatMap(group => group.links).filter(({ link }) => !isHidden(link.to))
  const wanted = text === undefined ? [] : links.filter(({ label }) => begins(label, text.toLowerCase()))
  const items = wanted.map(({ link, label, key }) => ({
    id: `page ${label}`,
    label,
    ...(key === undefined ? {} : { hint: `g ${key}` }),
    run: () => void navigate(link),
  }))
  return { value: 'Pages', items }
}

/** The act on each found campaign; before an act is named, the acts that begin with the text. */
function useActs(act: CampaignAct | undefined, found: readonly Found[], text: string | undefined): PaletteGroup {
  const perform = useCampaignActs()
  const navigate = useNavigate()
  if (text === undefined) return { value: 'Acts', items: [] }
  if (act !== undefined) {
    const campaigns = found.filter(({ kind }) => kind === 'campaign')
    const items = campaigns.map(({ id, name }) => ({
      id: `${act} ${id}`,
      label: `${ACT_WORDS[act]} ${name}`,
      hint: 'Campaign',
      run: () => void perform(act, id).catch((refused: Error) => notify(`${name} is unchanged`, refused.message)),
    }))
    return { value: 'Acts', items }
  }
  const offered: PaletteItem[] = [
    { id: 'act new', label: 'New campaign', run: () => void navigate({ to: '/campaigns/new' }) },
    ...ACTS.map(one => ({ id: `act ${one}`, label: `${ACT_WORDS[one]} a campaign…`, fills: `${one} ` })),
  ]
  return { value: 'Acts', items: offered.filter(({ label }) => begins(label, text.toLowerCase())) }
}

function useObjects(found: readonly Found[]): PaletteGroup {
  const navigate = useNavigate()
  const items = found.map(one => ({
    id: `${one.kind} ${one.id}`,
    label: one.name,
    hint: foundInWords(one),
    run: () => void navigate(placeOf(one)),
  }))
  return { value: 'Found', items }
}

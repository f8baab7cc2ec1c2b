/** The menu of the signed-in person: theme, profile, sign-out. */
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronsUpDown, LogOut, UserRound } from 'lucide-react'
import { chooseTheme, THEMES, type Theme, useTheme } from '../../ground/theme.ts'
import { Face } from '../../ground/ui/face.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { postAuth, whoIsSignedIn } from './session.ts'

const THEME_LABELS: Record<Theme, string> = { system: 'System', light: 'Light', dark: 'Dark' }

export function PersonMenu() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const theme = useTheme()
  const person = useSuspenseQuery(whoIsSignedIn).data?.user
  const signOut = useMutation({
    mutationFn: () => postAuth('/sign-out'),
    onSuccess: async () => {
      // Without a session, later refusals must not open the dialog “Your session has ended”.
      queries.setQueryData(whoIsSignedIn.queryKey, null)
      await navigate({ to: '/sign-in' })
      queries.clear()
    },
    onError: refused => notify('You are still signed in', refused.message),
  })
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex w-full items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-line/50 data-popup-open:bg-line/50"
        >
          <Face name={person?.name ?? ''} image={person?.image} />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{person?.name}</span>
            <span className="block truncate text-sm text-ink-faint">{person?.email}</span>
          </span>
          <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
        </button>
      }
    >
      <MenuChoice
        label="Appearance"
        value={theme}
        onChange={value => chooseTheme(value as Theme)}
        options={THEMES.map(value => ({ value, label: THEME_LABELS[value] }))}
      />
      <MenuLine />
      <MenuItem icon={UserRound} onSelect={() => void navigate({ to: '/settings/profile' })}>
        Profile
      </MenuItem>
      <MenuItem icon={LogOut} onSelect={() => signOut.mutate()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

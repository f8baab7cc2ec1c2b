/** In place of a workspace that asks for a second factor, to who has none. Their own page stays open: that is where they set one up. */
import { Link } from '@tanstack/react-router'
import type { Workspace } from '../ground/active.ts'
import { buttonLook } from '../ground/ui/button.tsx'
import { PageHeader } from '../ground/ui/page.tsx'

export function SecondFactorWanted({ workspace }: { workspace: Workspace }) {
  return (
    <div className="max-w-2xl">
      <PageHeader
        title={`${workspace.name} asks for a second factor`}
        words="An app that shows codes, or a passkey, besides your password. It takes a minute; the workspace is open to you right after."
      />
      <Link to="/settings/profile" className={buttonLook('primary')}>
        Set one up
      </Link>
    </div>
  )
}

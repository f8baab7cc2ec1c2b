/**
 * Shown in place of a workspace that requires a second factor to a person who has none. Their profile page stays open, because that is
 * where they set one up.
 */
import { Link } from '@tanstack/react-router'
import type { Workspace } from '../ground/active.ts'
import { buttonLook } from '../ground/ui/button.tsx'
import { PageHeader } from '../ground/ui/page.tsx'

export function SecondFactorRequired({ workspace }: { workspace: Workspace }) {
  return (
    <div className="max-w-2xl">
      <PageHeader
        title={`${workspace.name} requires a second factor`}
        words="Set up an authenticator app or a passkey. It takes a minute, and the workspace opens right after."
      />
      <Link to="/settings/profile" className={buttonLook('primary')}>
        Set one up
      </Link>
    </div>
  )
}

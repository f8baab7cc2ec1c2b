/** The person's second factors and recovery codes, each with its actions. */
import { useQuery } from '@tanstack/react-query'
import { Fingerprint, KeyRound, Smartphone } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { ago, day } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { AddPasskey } from './add-passkey.tsx'
import { type Factor, mySecondFactor } from './factor.ts'
import { reasonAgainstPasskeys } from './passkey.ts'
import { NewCodes, RemoveApp, RemovePasskey, RenamePasskey } from './second-factor-dialogs.tsx'
import { SetUpApp } from './set-up-app.tsx'

export function SecondFactorSettings() {
  const factor = useQuery(mySecondFactor)
  return <Loaded query={factor}>{data => <FactorList factor={data} />}</Loaded>
}

type Passkey = Factor['passkeys'][number]
type OpenDialog = 'app' | 'no-app' | 'passkey' | 'codes' | { passkey: Passkey; to: 'rename' | 'remove' }

function FactorList({ factor }: { factor: Factor }) {
  const [open, setOpen] = useState<OpenDialog>()
  const close = () => setOpen(undefined)
  const { app, passkeys, recovery_codes_left: left, required_by: asking } = factor
  const isOn = app || passkeys.length > 0
  return (
    <div className="flex flex-col items-start gap-3">
      {asking.length > 0 && !isOn && (
        <div className="w-full">
          <Note kind="warning">
            <strong>{`${inList(asking)} ${asking.length === 1 ? 'requires' : 'require'} a second factor.`}</strong> You
            get in as soon as you set up an app or a passkey.
          </Note>
        </div>
      )}
      <ul className="w-full divide-y divide-line rounded-lg border border-line bg-surface">
        <Line
          icon={Smartphone}
          title="Authenticator app"
          words={
            app
              ? 'Signing in asks for its code after your password.'
              : 'Shows a six-digit code that changes every 30 seconds.'
          }
          badge={app ? <Badge tone="good">On</Badge> : undefined}
        >
          {app ? (
            <Button size="sm" look="danger-quiet" onClick={() => setOpen('no-app')}>
              Remove the app
            </Button>
          ) : (
            <Button size="sm" onClick={() => setOpen('app')}>
              Set up an app
            </Button>
          )}
        </Line>
        {passkeys.map(passkey => (
          <PasskeyLine key={passkey.id} passkey={passkey} onOpen={to => setOpen({ passkey, to })} />
        ))}
        <Line
          icon={Fingerprint}
          title={passkeys.length === 0 ? 'Passkey' : 'Another passkey'}
          words="Signs you in with your fingerprint, face or PIN, without password and code."
        >
          <Button size="sm" reason={reasonAgainstPasskeys()} onClick={() => setOpen('passkey')}>
            Add a passkey
          </Button>
        </Line>
        {isOn && (
          <Line
            icon={KeyRound}
            title="Recovery codes"
            words={left === 0 ? 'None left.' : `${left} left. Each works once.`}
            badge={left < FEW ? <Badge tone="warn">Make new ones</Badge> : undefined}
          >
            <Button size="sm" onClick={() => setOpen('codes')}>
              Make new codes
            </Button>
          </Line>
        )}
      </ul>
      {open === 'app' && <SetUpApp onClose={close} />}
      {open === 'passkey' && <AddPasskey onClose={close} />}
      {open === 'codes' && <NewCodes onClose={close} />}
      {open === 'no-app' && <RemoveApp factor={factor} onClose={close} />}
      {typeof open === 'object' && open.to === 'rename' && <RenamePasskey passkey={open.passkey} onClose={close} />}
      {typeof open === 'object' && open.to === 'remove' && (
        <RemovePasskey factor={factor} passkey={open.passkey} onClose={close} />
      )}
    </div>
  )
}

/** Below this many codes the screen suggests making new ones. */
const FEW = 3

const inList = (names: readonly string[]) => new Intl.ListFormat('en').format(names)

function PasskeyLine({ passkey, onOpen }: { passkey: Passkey; onOpen: (to: 'rename' | 'remove') => void }) {
  const { name, created_at, last_used_at, is_synced } = passkey
  const used = last_used_at === null ? 'not used yet' : `used ${ago(last_used_at)}`
  return (
    <Line
      icon={Fingerprint}
      title={name}
      words={`Passkey${is_synced ? ', synced to your devices' : ''} · added ${day(created_at)} · ${used}`}
      badge={<Badge tone="good">On</Badge>}
    >
      <Button size="sm" look="quiet" aria-label={`Rename the passkey ${name}`} onClick={() => onOpen('rename')}>
        Rename
      </Button>
      <Button size="sm" look="danger-quiet" aria-label={`Remove the passkey ${name}`} onClick={() => onOpen('remove')}>
        Remove
      </Button>
    </Line>
  )
}

type LineProps = { icon: typeof KeyRound; title: string; words: string; badge?: ReactNode; children: ReactNode }

function Line({ icon: Icon, title, words, badge, children }: LineProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-2.5">
      <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" strokeWidth={1.75} />
      <div className="min-w-0 flex-1 basis-52">
        <p className="font-medium">
          {title} {badge}
        </p>
        <p className="text-sm text-ink-faint">{words}</p>
      </div>
      <div className="ml-auto flex gap-1">{children}</div>
    </li>
  )
}

/** Settings, Backup: the backups of the whole installation, for the person who runs it. Anybody else gets the page of an unknown address. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Archive, Download, Play } from 'lucide-react'
import type { z } from 'zod'
import { type BackupLine, downloadBackup, listBackups, startBackup } from '../../backup/api.ts'
import { routeOf } from '../../contract/endpoint.ts'
import { myPreferences, reasonAgainst, useActive } from '../ground/active.ts'
import { ask, call } from '../ground/call.ts'
import { ago, count, fileSize, moment, NONE, span } from '../ground/figures/figures.ts'
import { useNow } from '../ground/figures/now.ts'
import { Badge } from '../ground/ui/badge.tsx'
import { Button, buttonLook } from '../ground/ui/button.tsx'
import { EmptyState, Loaded, PageHeader, Section, Waiting } from '../ground/ui/page.tsx'
import { sentence } from '../ground/ui/plain-words.ts'
import { useRefresh } from '../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../ground/ui/refusal.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../ground/ui/table.tsx'
import { NotFoundInside } from './lost.tsx'

type Backup = z.input<typeof BackupLine>

const POLL_MS = 2000
const MINUTE_MS = 60_000

export function BackupPage() {
  const { role } = useActive()
  const isOperator = useQuery(myPreferences).data?.is_operator
  if (isOperator === undefined) return <Waiting />
  if (!isOperator) return <NotFoundInside />
  const reason = reasonAgainst(listBackups, role)
  return reason === undefined ? <Backups /> : <Note>{reason}</Note>
}

function Backups() {
  const refresh = useRefresh()
  const backups = useQuery({
    ...ask(listBackups),
    // Backups of commands and timers appear too.
    refetchInterval: ({ state }) => (state.data?.data[0]?.state === 'running' ? POLL_MS : MINUTE_MS),
  })
  const run = useMutation({ mutationFn: () => call(startBackup), onSettled: () => refresh(listBackups) })
  const isRunning = backups.data?.data[0]?.state === 'running'
  return (
    <>
      <PageHeader
        title="Backup"
        words="A backup is one file with everything in this installation: all workspaces, people, clicks, conversions and money. Visitors are redirected as usual meanwhile."
      >
        <Button
          look="primary"
          icon={Play}
          pending={run.isPending}
          reason={isRunning ? 'A backup is running. Wait until it has ended.' : undefined}
          onClick={() => run.mutate()}
        >
          Run now
        </Button>
      </PageHeader>
      <RefusalNote refused={run.error} className="mb-4" />
      <Loaded query={backups}>
        {({ data, folder, keep }) => (
          <>
            <Latest backups={data} />
            <List backups={data} />
            <Places folder={folder} keep={keep} />
            <Restoring path={data.find(({ state }) => state === 'complete')?.path ?? `${folder}/one.backup`} />
          </>
        )}
      </Loaded>
    </>
  )
}

/** The running backup with its progress, or the reason why the last one failed. */
function Latest({ backups: [latest, ...earlier] }: { backups: readonly Backup[] }) {
  const now = useNow()
  if (latest?.state === 'failed')
    return (
      <div className="mb-4">
        <Note kind="warning">
          <strong>The last backup failed {ago(latest.started_at, now)}.</strong> {sentence(latest.failure ?? '')}
        </Note>
      </div>
    )
  if (latest?.state !== 'running') return null
  const before = earlier.find(({ state }) => state === 'complete')
  return (
    <div className="mb-4">
      <Note>
        <strong>A backup is running</strong>, started {ago(latest.started_at, now)}
        {latest.started_by === null ? ' by a command or a timer' : ` by ${latest.started_by}`}: {fileSize(latest.bytes)}{' '}
        and {count(latest.rows)} rows of {latest.tables} tables so far.
        {before !== undefined && ` The backup before has ${fileSize(before.bytes)} and ${count(before.rows)} rows.`}
      </Note>
    </div>
  )
}

const LOOKS = {
  running: { tone: 'accent', words: 'Running' },
  complete: { tone: 'good', words: 'Complete' },
  failed: { tone: 'bad', words: 'Failed' },
} as const

function List({ backups }: { backups: readonly Backup[] }) {
  const now = useNow()
  if (backups.length === 0)
    return (
      <div className="mb-8">
        <EmptyState
          icon={Archive}
          title="No backups yet"
          words="Run one now, and let a timer make one every night. Backups from before a restore are not listed."
        />
      </div>
    )
  return (
    <Section title="Last backups" words="Also those of npm run backup and of timers, in all processes.">
      <Table caption="Last backups">
        <thead>
          <tr>
            <Head stay>Started</Head>
            <Head>State</Head>
            <Head numeric>Took</Head>
            <Head numeric>Size</Head>
            <Head numeric>Rows</Head>
            <Head>By</Head>
            <Head>File on the server, or why it failed</Head>
            <ActionHead />
          </tr>
        </thead>
        <tbody>
          {backups.map(backup => (
            <Line key={backup.id} backup={backup} now={now} />
          ))}
        </tbody>
      </Table>
    </Section>
  )
}

function Line({ backup, now }: { backup: Backup; now: number }) {
  const { id, state, started_at, ended_at, started_by, path, failure, is_here, tables, journals } = backup
  const look = LOOKS[state]
  const isComplete = state === 'complete'
  const holds = `${count(tables)} tables${journals === 0 ? '' : ` and ${count(journals)} journal files`}`
  const took = (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)
  return (
    <Row>
      <RowHead stay title={moment(started_at)}>
        {ago(started_at, now)}
      </RowHead>
      <Cell>
        <Badge tone={look.tone}>{look.words}</Badge>
      </Cell>
      <Cell numeric>{span(took / 1000)}</Cell>
      <Cell numeric>{state === 'failed' ? NONE : fileSize(backup.bytes)}</Cell>
      <Cell numeric title={isComplete ? holds : undefined}>
        {state === 'failed' ? NONE : count(backup.rows)}
      </Cell>
      <Cell faint={started_by === null}>{started_by ?? 'Command'}</Cell>
      <Cell className="max-w-96 min-w-64 py-1.5 whitespace-normal! break-words">
        {failure === null ? <code className="font-mono text-sm">{path}</code> : sentence(failure)}
        {isComplete && !is_here && (
          <span className="block text-sm text-ink-faint">
            Not here: it was moved or removed, or another server has it.
          </span>
        )}
      </Cell>
      <ActionCell>
        {is_here && (
          <a
            href={routeOf(downloadBackup).path.replace(':id', id)}
            download
            className={buttonLook('quiet', 'sm')}
            aria-label={`Download the backup of ${moment(started_at)}`}
          >
            <Download aria-hidden className="size-3.5" />
            Download
          </a>
        )}
      </ActionCell>
    </Row>
  )
}

function Places({ folder, keep }: { folder: string; keep: number }) {
  return (
    <Section title="Where they are">
      <div className="max-w-prose text-ink-soft">
        <p>
          <em>Run now</em> writes to <code className="font-mono text-sm break-all">{folder}</code> on the server
          (BACKUP_DIR) and then keeps the newest {count(keep)} backups there (BACKUP_KEEP).
        </p>
        <p className="mt-2">
          A backup on the same disk is lost with the disk, so copy backups to another machine. SECRET is not in the
          file: keep it in a third place, because without it no backup can be restored.
        </p>
      </div>
    </Section>
  )
}

function Restoring({ path }: { path: string }) {
  return (
    <Section title="Restoring">
      <div className="max-w-prose text-ink-soft">
        <p>
          A restore fills a new, empty installation with the contents of the file: everything is as it was when the
          backup began. Later clicks, conversions and changes are not in it. It is done by a command on the server, not
          in the dashboard. Stop Sluice first, and put the file <code className="font-mono text-sm">secret</code> of
          this installation into the new folder:
        </p>
        <pre className="mt-2 overflow-x-auto rounded-md bg-sunken px-3 py-2 font-mono text-sm text-ink">
          {`mkdir -m 700 /var/lib/new && cp /safe/secret /var/lib/new/\nDATA_DIR=/var/lib/new npm run restore -- ${path}\nDATA_DIR=/var/lib/new npm run reconcile`}
        </pre>
        <p className="mt-2">
          Then start Sluice with that folder. Postbacks that were waiting at the time of the backup are sent again, with
          the same ids. <code className="font-mono text-sm">docs/operating.md</code> has the steps for a service, a
          container and your own PostgreSQL.
        </p>
      </div>
    </Section>
  )
}

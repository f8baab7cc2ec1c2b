/** Backups of the whole installation, over HTTP. For the operator; all others get the answer of an unknown route. */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'
import { Id, Instant } from '../contract/fields.ts'

const WHO =
  'For owners who run the installation: those in OPERATORS, or without that setting an owner of every organization. Anybody else gets 404, as for an unknown route.'

export const BackupLine = z
  .object({
    id: Id,
    state: z.enum(['running', 'complete', 'failed']),
    started_at: Instant,
    ended_at: Instant.nullable().meta({ description: 'Null: it is running' }),
    started_by: z
      .string()
      .nullable()
      .meta({ description: 'The name of the person who started it; null: a command or a timer' }),
    path: z.string().meta({ description: 'The file on the disk of the server that made it' }),
    is_here: z
      .boolean()
      .meta({ description: 'Whether this server has the complete file, so that it can be downloaded' }),
    bytes: z.int().min(0).meta({ description: 'The size of the file; of a running backup, what is written so far' }),
    rows: z.int().min(0),
    tables: z.int().min(0),
    journals: z.int().min(0).meta({ description: 'Files of clicks that waited for the database' }),
    failure: z.string().nullable().meta({ description: 'Why it failed, and what to do; null: it did not fail' }),
  })
  .meta({ id: 'Backup' })

export const listBackups = endpoint({
  route: 'GET /api/backups',
  access: { session: 'owner' },
  summary: 'List the latest backups of the installation, by any process, newest first',
  description: `${WHO} Backups that were made before a restore are not listed.`,
  reply: z.object({
    folder: z.string().meta({ description: 'The folder of new backups on the disk of the server' }),
    keep: z.int().meta({ description: 'How many backups a new one leaves in the folder, itself included' }),
    data: z.array(BackupLine),
  }),
  refuses: ['route_not_found'],
})

export const startBackup = endpoint({
  route: 'POST /api/backups',
  history: { none: 'a backup has its own record' },
  access: { session: 'owner' },
  summary: 'Start a backup of the installation',
  description: `A process of its own takes it; read its progress from the list. ${WHO}`,
  status: 201,
  reply: BackupLine,
  refuses: ['route_not_found', 'backup_running'],
})

export const downloadBackup = endpoint({
  route: 'GET /api/backups/:id/file',
  access: { session: 'owner' },
  summary: 'Download a complete backup',
  description: `The file has the data of all organizations, but not SECRET, without which it cannot be restored. ${WHO}`,
  file: 'application/octet-stream',
  status: 200,
  refuses: ['route_not_found', 'object_not_found'],
})

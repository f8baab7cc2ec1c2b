/** Downloads the CSV file of a question, and other files. */
import { routeOf } from '../../../contract/endpoint.ts'
import { exploreAsCsv } from '../../../reading/explore/api.ts'
import { Refused } from '../../ground/call.ts'
import { download } from '../../ground/download.ts'
import type { z } from 'zod'
import type { ExploreFileQuestion } from '../../../contract/explore.ts'

/** Downloads a question's rows as CSV. @throws Refused, as a call does */
export async function saveCsv(question: z.input<typeof ExploreFileQuestion>, name: string): Promise<void> {
  const { method, path } = routeOf(exploreAsCsv)
  const headers = { 'content-type': 'application/json' }
  await saveFile(path, { method, body: JSON.stringify(question), headers }, name)
}

/** Downloads the answer of any route that answers with a file. @throws Refused */
export async function saveFile(path: string, asked: RequestInit, name: string): Promise<void> {
  const response = await fetch(path, asked).catch(() => {
    throw new Refused(0, { error: 'Sluice cannot be reached', hint: 'Check the connection, then try again.' })
  })
  if (response.ok) return download(name, await response.blob())
  throw new Refused(response.status, (await response.json().catch(() => ({}))) as Record<string, unknown>)
}

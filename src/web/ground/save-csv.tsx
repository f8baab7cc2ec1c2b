/** Saves a list as a CSV file, as far as it is filtered. While it is read, the button tells the number of lines so far and stops it. */
import { Download, Square } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type Endpoint, routeOf } from '../../contract/endpoint.ts'
import { Refused } from './call.ts'
import { download } from './download.ts'
import { Button } from './ui/button.tsx'
import { notify } from './ui/toast.tsx'

type Filters = Readonly<Record<string, string | undefined>>

/** Rows of a list of objects, by their ids or by the filters of the list. */
type PickedRows = { readonly ids: readonly string[] } | { readonly filter: Filters }

type SaveCsvProps = {
  /** The endpoint that answers with the file. Only its route counts. */
  endpoint: Pick<Endpoint, 'route'>
  query?: Filters
  /** In place of the query: the rows of a list of objects, whose file is asked for with a body. */
  picked?: PickedRows
  words?: string
  /** The name of the file, without its end. */
  name: string
}

export function SaveCsv({ endpoint, query = {}, picked, words = 'CSV', name }: SaveCsvProps) {
  const [lines, setLines] = useState<number>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const save = async () => {
    const stop = new AbortController()
    running.current = stop
    setLines(0)
    try {
      const file = await readFile(requestOf(endpoint, query, picked), stop.signal, setLines)
      download(`${name}.csv`, file)
    } catch (error) {
      if (stop.signal.aborted) return
      if (error instanceof Refused)
        notify(`${name}.csv was not saved`, [error.message, error.hint].filter(Boolean).join('. '))
      else notify(`${name}.csv was not saved`, 'The connection ended before the whole file was read.')
    } finally {
      if (running.current === stop) setLines(undefined)
    }
  }
  if (lines === undefined)
    return (
      <Button icon={Download} onClick={() => void save()} {...(words === 'CSV' ? { 'aria-label': 'Save as CSV' } : {})}>
        {words}
      </Button>
    )
  return (
    <Button icon={Square} onClick={() => running.current?.abort()} aria-label="Stop the CSV file">
      <span className="tabular-nums">{`Stop (${lines.toLocaleString('en-US')} lines)`}</span>
    </Button>
  )
}

type FileRequest = { readonly address: string; readonly init: RequestInit }

function requestOf(endpoint: SaveCsvProps['endpoint'], query: Filters, picked: PickedRows | undefined): FileRequest {
  const { path: address } = routeOf(endpoint)
  if (picked !== undefined) {
    const headers = { 'content-type': 'application/json' }
    return { address, init: { method: 'POST', body: JSON.stringify(picked), headers } }
  }
  const sent = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
  const search = new URLSearchParams(sent).toString()
  return { address: search === '' ? address : `${address}?${search}`, init: {} }
}

/** The whole file. Throws `Refused`, or the fault of a connection that ended too early. */
async function readFile(
  { address, init }: FileRequest,
  signal: AbortSignal,
  onLines: (lines: number) => void,
): Promise<Blob> {
  const response = await fetch(address, { ...init, signal })
  if (!response.ok || response.body === null)
    throw new Refused(response.status, (await response.json().catch(() => ({}))) as object)
  const parts: Uint8Array<ArrayBuffer>[] = []
  const count = lineCounter()
  const reader = response.body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value)
    onLines(count(part.value))
  }
  return new Blob(parts, { type: 'text/csv;charset=utf-8' })
}

const QUOTE = 34
const LINE_END = 10

/** Counts the lines below the titles. A line end within quotes belongs to a cell. */
function lineCounter(): (part: Uint8Array) => number {
  let ends = 0
  let isQuoted = false
  return part => {
    for (const byte of part) {
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (byte === LINE_END && !isQuoted) ends += 1
    }
    return Math.max(0, ends - 1)
  }
}

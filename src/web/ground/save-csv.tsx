/** Saves a list as a CSV file, as far as it is filtered. While it is read, the button tells the number of lines so far and stops it. */
import { Download, Square } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type Endpoint, routeOf } from '../../contract/endpoint.ts'
import { Refused } from './call.ts'
import { download } from './download.ts'
import { count as digits } from './figures/figures.ts'
import { Button } from './ui/button.tsx'
import { notify } from './ui/toast.tsx'

type SaveCsvProps = {
  /** The endpoint that answers with the file. */
  endpoint: Endpoint
  query: Readonly<Record<string, string | undefined>>
  /** The name of the file, without its end. */
  name: string
}

export function SaveCsv({ endpoint, query, name }: SaveCsvProps) {
  const [lines, setLines] = useState<number>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const save = async () => {
    const stop = new AbortController()
    running.current = stop
    setLines(0)
    try {
      const file = await readFile(addressOf(endpoint, query), stop.signal, setLines)
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
      <Button icon={Download} onClick={() => void save()} aria-label="Save as CSV">
        CSV
      </Button>
    )
  return (
    <Button icon={Square} onClick={() => running.current?.abort()} aria-label="Stop the CSV file">
      <span className="tabular-nums">{`Stop (${digits(lines)} lines)`}</span>
    </Button>
  )
}

function addressOf(endpoint: Endpoint, query: SaveCsvProps['query']): string {
  const sent = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
  const search = new URLSearchParams(sent).toString()
  return `${routeOf(endpoint).path}${search === '' ? '' : `?${search}`}`
}

/** The whole file. Throws `Refused`, or the fault of a connection that ended too early. */
async function readFile(address: string, signal: AbortSignal, onLines: (lines: number) => void): Promise<Blob> {
  const response = await fetch(address, { signal })
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

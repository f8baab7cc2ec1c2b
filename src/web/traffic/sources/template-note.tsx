/** Where a source differs from the template it was made from: its facts are copied, and neither follows the other. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { listSourceTemplates, type TrafficSource } from '../../../traffic/sources/api.ts'
import { ask } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Note } from '../../ground/ui/refusal.tsx'

type Facts = Pick<z.input<typeof TrafficSource>, 'parameters' | 'cost_unit' | 'cost_currency'>
type TemplateNoteProps = { source: Facts & { template: string | null }; onTake: (facts: Facts) => void }

export function TemplateNote({ source, onTake }: TemplateNoteProps) {
  const templates = useQuery(ask(listSourceTemplates, {})).data?.data
  const template = templates?.find(({ slug }) => slug === source.template)
  if (template === undefined) return null
  const { name, checked_on, parameters, cost_unit, cost_currency } = template
  const differences = differencesOf(source, template)
  if (differences.length === 0) return null
  return (
    <div className="mb-3">
      <Note>
        <p>
          <strong>{`It differs from its template, ${name}.`}</strong>
          {` The template was read on ${day(checked_on)}; it changes with Sluice, and what you have here stays.`}
        </p>
        <ul className="my-1.5 list-disc pl-5">
          {differences.map(({ what, here, there }) => (
            <li key={what} className="break-all">
              {`${what}: `}
              <Written>{here}</Written>
              {' here, '}
              <Written>{there}</Written>
              {' in the template'}
            </li>
          ))}
        </ul>
        <Button size="sm" onClick={() => onTake({ parameters, cost_unit, cost_currency })}>
          Take the template’s
        </Button>
      </Note>
    </div>
  )
}

const Written = ({ children }: { children: string | undefined }) =>
  children === undefined ? 'nothing' : <code className="font-mono text-ink">{children}</code>

type Difference = { what: string; here: string | undefined; there: string | undefined }

/** What a visit would notice: labels and the order are taste. */
function differencesOf(source: Facts, template: Facts): Difference[] {
  const [here, there] = [writtenOf(source), writtenOf(template)]
  return [...new Set([...there.keys(), ...here.keys()])]
    .map(what => ({ what, here: here.get(what), there: there.get(what) }))
    .filter(one => one.here !== one.there)
}

function writtenOf({ parameters, cost_unit, cost_currency }: Facts): ReadonlyMap<string, string> {
  const fields = parameters.map(({ field, parameter, macro }): [string, string] => [
    field,
    macro === null ? `${parameter}, appended by itself` : `${parameter}=${macro}`,
  ])
  const unit: [string, string][] = cost_unit === null ? [] : [['An amount', cost_unit.toUpperCase()]]
  return new Map([...fields, ...unit, ['Currency', cost_currency]])
}

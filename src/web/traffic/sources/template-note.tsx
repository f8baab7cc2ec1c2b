/** How a source differs from its template. The template is copied when the source is added; later changes of either do not reach the other. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { listSourceTemplates, type TrafficSource } from '../../../traffic/sources/api.ts'
import { ask } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Note } from '../../ground/ui/refusal.tsx'

type SourceFields = Pick<z.input<typeof TrafficSource>, 'parameters' | 'cost_unit' | 'cost_currency'>
type TemplateNoteProps = { source: SourceFields & { template: string | null }; onTake: (fields: SourceFields) => void }

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
          <strong>{`This source differs from its template, ${name}.`}</strong>
          {` The template was checked on ${day(checked_on)}. Updates of Sluice change templates, but not your sources.`}
        </p>
        <ul className="my-1.5 list-disc pl-5">
          {differences.map(({ what, here, there }) => (
            <li key={what} className="break-all">
              {`${what}: `}
              <Value>{here}</Value>
              {' here, '}
              <Value>{there}</Value>
              {' in the template'}
            </li>
          ))}
        </ul>
        <Button size="sm" onClick={() => onTake({ parameters, cost_unit, cost_currency })}>
          Use the template
        </Button>
      </Note>
    </div>
  )
}

const Value = ({ children }: { children: string | undefined }) =>
  children === undefined ? 'nothing' : <code className="font-mono text-ink">{children}</code>

type Difference = { what: string; here: string | undefined; there: string | undefined }

/** Only differences that change how clicks are read: labels and order do not. */
function differencesOf(source: SourceFields, template: SourceFields): Difference[] {
  const [here, there] = [valuesOf(source), valuesOf(template)]
  return [...new Set([...there.keys(), ...here.keys()])]
    .map(what => ({ what, here: here.get(what), there: there.get(what) }))
    .filter(one => one.here !== one.there)
}

function valuesOf({ parameters, cost_unit, cost_currency }: SourceFields): ReadonlyMap<string, string> {
  const fields = parameters.map(({ field, parameter, macro }): [string, string] => [
    field,
    macro === null ? `${parameter}, appended by the source` : `${parameter}=${macro}`,
  ])
  const unit: [string, string][] = cost_unit === null ? [] : [['Cost is per', cost_unit.toUpperCase()]]
  return new Map([...fields, ...unit, ['Currency', cost_currency]])
}

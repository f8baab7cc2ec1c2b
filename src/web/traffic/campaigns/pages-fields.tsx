/** The sites whose pages may count visits, and the types that a browser may report at once. */
import { useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { BrowserType } from '../../../contract/event-types.ts'
import { inWords } from '../../ground/rungs.ts'
import { Checkbox, TextArea } from '../../ground/ui/field.tsx'
import type { CampaignValues } from './draft.ts'

type Form = UseFormReturn<CampaignValues, unknown, CampaignValues>

const linesOf = (text: string): string[] => text.split(/\s+/).filter(line => line !== '')

export function PagesFields({ form }: { form: Form }) {
  const sites = form.watch('sites') ?? []
  const [text, setText] = useState(sites.join('\n'))
  // The form may have been saved, with sites in their normal form.
  const shown = linesOf(text).join() === sites.join() ? text : sites.join('\n')
  const { errors } = form.formState
  const wrong = Array.isArray(errors.sites) ? errors.sites.find(one => one != null) : errors.sites
  return (
    <>
      <TextArea
        label="Sites"
        optional
        rows={2}
        placeholder="shop.example"
        hint="Hosts whose pages count visits without a redirect, one per line: shop.example, *.shop.example, 127.0.0.1:8123."
        spellCheck={false}
        error={(wrong as { message?: string } | undefined)?.message}
        value={shown}
        onChange={event => {
          setText(event.target.value)
          form.setValue('sites', linesOf(event.target.value), { shouldDirty: true })
        }}
      />
      {sites.length > 0 && <BrowserTypes form={form} />}
    </>
  )
}

function BrowserTypes({ form }: { form: Form }) {
  const chosen = form.watch('browser_types') ?? []
  const tick = (type: (typeof BrowserType.options)[number], isTicked: boolean) =>
    form.setValue(
      'browser_types',
      BrowserType.options.filter(one => (one === type ? isTicked : chosen.includes(one))),
      { shouldDirty: true },
    )
  return (
    <fieldset>
      <legend className="font-medium">Count at once</legend>
      <p className="mt-1 mb-2 text-sm text-ink-soft">
        Conversions that pages report are on hold until the API, a network or a person confirms them. Ticked types count
        at once, without a payout. Visitors can forge them, and each person is charged.
      </p>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {BrowserType.options.map(type => (
          <Checkbox
            key={type}
            label={inWords(type)}
            checked={chosen.includes(type)}
            onChange={event => tick(type, event.target.checked)}
          />
        ))}
      </div>
    </fieldset>
  )
}

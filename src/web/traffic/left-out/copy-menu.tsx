/** Copies the left-out values of a field, also in the form that the blacklist of the campaign's source takes. */
import { Copy } from 'lucide-react'
import { readLeftOutText, type TEXT_FORMS } from '../../../traffic/left-out/api.ts'
import { addressOfCall } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { copyText } from '../../ground/ui/copy.tsx'
import { Menu, MenuItem } from '../../ground/ui/menu.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { fieldWords, type LeftOutField } from './fields.tsx'

type Form = (typeof TEXT_FORMS)[number]

const FORM_WORDS: Readonly<Record<Form, string>> = {
  source: 'For the blacklist of the source',
  lines: 'One value a line',
  commas: 'Separated by commas',
}

export function CopyMenu({ id, field }: { id: string; field: LeftOutField }) {
  const name = fieldWords(field)
  const copy = async (form: Form) => {
    try {
      const answer = await fetch(addressOfCall(readLeftOutText, { params: { id }, query: { field, form } }))
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
      const text = await answer.text()
      if (text === '') return notify(`No value of ${name} is left out`, 'Nothing was copied.')
      await copyText(text)
      notify(`The values of ${name} are copied`)
    } catch (error) {
      notify('Nothing was copied', error instanceof Error ? error.message : undefined)
    }
  }
  return (
    <Menu
      trigger={
        <Button size="sm" icon={Copy}>
          {`Copy ${name}`}
        </Button>
      }
    >
      {Object.entries(FORM_WORDS).map(([form, words]) => (
        <MenuItem key={form} onSelect={() => void copy(form as Form)}>
          {words}
        </MenuItem>
      ))}
    </Menu>
  )
}

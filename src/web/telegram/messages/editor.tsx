/** The editor of a message that a bot sends: kind, text, buttons, and delivery options. */
import { Plus, Trash2 } from 'lucide-react'
import { MEDIA, mediumOf, MESSAGE_MACROS, messageFault, messageText } from '../../../contract/telegram-message.ts'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { Checkbox, SelectField, TextArea, TextField } from '../../ground/ui/field.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import type { MessageDraft } from './preview.tsx'

type ButtonRow = NonNullable<MessageDraft['buttons']>[number]
type MessageButton = ButtonRow[number]
/** A channel that a button can lead to. */
export type ChannelName = { readonly id: string; readonly title: string }

type Kind = 'text' | (typeof MEDIA)[number] | 'copy'
const KINDS: readonly [Kind, string][] = [
  ['text', 'Text'],
  ['photo', 'Photo with a caption'],
  ['video', 'Video with a caption'],
  ['animation', 'Animation with a caption'],
  ['document', 'File with a caption'],
  ['copy', 'Copy of a message'],
]

const kindOf = (message: MessageDraft): Kind => ('copy' in message ? 'copy' : (mediumOf(message)?.kind ?? 'text'))
const formatOf = (message: MessageDraft) => ('format' in message ? message.format : undefined)

/** The same message as another kind: text, buttons and options stay. */
function asKind(message: MessageDraft, kind: Kind): MessageDraft {
  const { buttons, silent, protect, preview } = message
  const shared = {
    ...(buttons === undefined ? {} : { buttons }),
    ...(silent === undefined ? {} : { silent }),
    ...(protect === undefined ? {} : { protect }),
    ...(preview === undefined ? {} : { preview }),
  }
  const format = formatOf(message)
  const formatField = format === undefined ? {} : { format }
  if (kind === 'copy') return { copy: { chat_id: 0, message_id: 1 }, ...shared }
  if (kind === 'text') return { text: messageText(message), ...formatField, ...shared }
  const file = mediumOf(message)?.file ?? ''
  return { [kind]: file, caption: messageText(message), ...formatField, ...shared } as MessageDraft
}

type EditorProps = {
  message: MessageDraft
  onChange: (message: MessageDraft) => void
  channels: readonly ChannelName[]
  /** Whether faults are shown. Off until somebody has typed something. */
  showsFaults: boolean
}

export function MessageEditor({ message, onChange, channels, showsFaults }: EditorProps) {
  const kind = kindOf(message)
  const fault = showsFaults ? messageFault(message) : undefined
  const set = (changes: object) => onChange({ ...message, ...changes } as MessageDraft)
  return (
    <div className="flex flex-col gap-4">
      <SelectField
        label="Kind"
        className="max-w-60"
        value={kind}
        onChange={event => onChange(asKind(message, event.target.value as Kind))}
      >
        {KINDS.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </SelectField>
      {'copy' in message ? (
        <CopyFields copy={message.copy} onChange={copy => set({ copy })} />
      ) : (
        <>
          {kind !== 'text' && (
            <TextField
              label="File URL"
              placeholder="https://"
              hint="An https URL that Telegram can fetch, or the file_id of a file the bot has sent before."
              value={mediumOf(message)?.file ?? ''}
              onChange={event => set({ [kind]: event.target.value })}
            />
          )}
          <TextArea
            label={kind === 'text' ? 'Text' : 'Caption'}
            rows={7}
            hint={<Macros isHtml={formatOf(message) !== 'plain'} />}
            value={messageText(message)}
            onChange={event => set(kind === 'text' ? { text: event.target.value } : { caption: event.target.value })}
          />
        </>
      )}
      <Buttons rows={message.buttons ?? []} channels={channels} onChange={buttons => set({ buttons })} />
      <div className="flex flex-col gap-2">
        {!('copy' in message) && (
          <Checkbox
            label="Plain text"
            words="No tags: < and & are sent as they are."
            checked={formatOf(message) === 'plain'}
            onChange={event => set({ format: event.target.checked ? 'plain' : 'html' })}
          />
        )}
        <Checkbox
          label="Send silently"
          checked={message.silent === true}
          onChange={event => set({ silent: event.target.checked })}
        />
        <Checkbox
          label="Block forwarding and saving"
          checked={message.protect === true}
          onChange={event => set({ protect: event.target.checked })}
        />
        {kind === 'text' && (
          <Checkbox
            label="No link preview"
            checked={message.preview === false}
            onChange={event => set({ preview: !event.target.checked })}
          />
        )}
      </div>
      {fault !== undefined && (
        <p role="alert" className="text-bad">
          {sentence(fault)}
        </p>
      )}
    </div>
  )
}

const Macros = ({ isHtml }: { isHtml: boolean }) => (
  <>
    {isHtml && (
      <>
        Telegram’s tags:{' '}
        <code>&lt;b&gt; &lt;i&gt; &lt;u&gt; &lt;s&gt; &lt;a href&gt; &lt;code&gt; &lt;blockquote&gt;</code>.{' '}
      </>
    )}
    Macros of the recipient’s click:{' '}
    <code>
      {MESSAGE_MACROS.map(name => `{${name}}`)
        .join(' ')
        .replace(/ \{sub2\}.*\{sub9\}/, ' … {sub9}')}
    </code>
    , and <code>{'{first_name|friend}'}</code>.
  </>
)

type Copied = Extract<MessageDraft, { copy: unknown }>['copy']

function CopyFields({ copy, onChange }: { copy: Copied; onChange: (copy: Copied) => void }) {
  const chat = (text: string) => (/^-?\d+$/.test(text) ? Number(text) : text)
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label="Chat"
        hint="@name or id of a chat that the bot is in."
        value={String(copy.chat_id)}
        onChange={event => onChange({ ...copy, chat_id: chat(event.target.value.trim()) })}
      />
      <TextField
        label="Message id"
        inputMode="numeric"
        hint="The last part of the message’s link."
        value={String(copy.message_id)}
        onChange={event => onChange({ ...copy, message_id: Number(event.target.value) || 0 })}
      />
    </div>
  )
}

type ButtonsProps = {
  rows: readonly ButtonRow[]
  channels: readonly ChannelName[]
  onChange: (rows: ButtonRow[]) => void
}

/** The button rows of a message, edited in place. */
function Buttons({ rows, channels, onChange }: ButtonsProps) {
  const replaceButton = (rowIndex: number, index: number, replacement: MessageButton | undefined) =>
    onChange(
      rows
        .map((row, n) =>
          n === rowIndex ? row.flatMap((button, m) => (m === index ? (replacement ?? []) : button)) : row,
        )
        .filter(row => row.length > 0),
    )
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 font-medium">
        Buttons <span className="font-normal text-ink-faint">(optional)</span>
      </legend>
      {rows.map((row, rowIndex) =>
        row.map((button, index) => (
          <ButtonFields
            key={`${rowIndex} ${index}`}
            value={button}
            channels={channels}
            onChange={changed => replaceButton(rowIndex, index, changed)}
          />
        )),
      )}
      <Button
        icon={Plus}
        look="quiet"
        size="sm"
        className="self-start"
        onClick={() => onChange([...rows, [{ text: '', url: 'https://' }]])}
      >
        Add button
      </Button>
    </fieldset>
  )
}

type ButtonKind = 'url' | 'channel_id' | 'opt_out'
const buttonKind = (button: MessageButton): ButtonKind =>
  'url' in button ? 'url' : 'channel_id' in button ? 'channel_id' : 'opt_out'

function asButtonKind({ text }: MessageButton, kind: ButtonKind, channels: readonly ChannelName[]): MessageButton {
  if (kind === 'url') return { text, url: 'https://' }
  return kind === 'opt_out'
    ? { text: text || 'Unsubscribe', opt_out: true }
    : { text, channel_id: channels[0]?.id ?? '' }
}

type ButtonProps = {
  value: MessageButton
  channels: readonly ChannelName[]
  onChange: (button: MessageButton | undefined) => void
}

function ButtonFields({ value, channels, onChange }: ButtonProps) {
  const kind = buttonKind(value)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2 sm:grid-cols-[minmax(0,1fr)_9rem_minmax(0,1.5fr)_auto]">
      <TextField
        label="Button text"
        hideLabel
        placeholder="Button text"
        value={value.text}
        onChange={event => onChange({ ...value, text: event.target.value })}
      />
      <SelectField
        label="Leads to"
        hideLabel
        className="max-sm:order-3"
        value={kind}
        onChange={event => onChange(asButtonKind(value, event.target.value as ButtonKind, channels))}
      >
        <option value="url">URL</option>
        {channels.length > 0 && <option value="channel_id">Channel</option>}
        <option value="opt_out">Unsubscribe</option>
      </SelectField>
      <div className="max-sm:order-4 max-sm:col-span-2">
        {'url' in value && (
          <TextField
            label="URL"
            hideLabel
            placeholder="https://offer.example/?c={click_id}"
            value={value.url}
            onChange={event => onChange({ ...value, url: event.target.value })}
          />
        )}
        {'channel_id' in value && (
          <SelectField
            label="Channel"
            hideLabel
            value={value.channel_id}
            onChange={event => onChange({ ...value, channel_id: event.target.value })}
          >
            {channels.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </SelectField>
        )}
      </div>
      <IconButton icon={Trash2} label={`Remove the button ${value.text}`} onClick={() => onChange(undefined)} />
    </div>
  )
}

/** A preview of a message in the chat, with its tags rendered and its macros highlighted. */
import { FileText, Image, Lock, Play, Video } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import type { z } from 'zod'
import { type Piece, readHtml } from '../../../contract/telegram-html.ts'
import { mediumOf, type Medium, type Message, MESSAGE_MACRO, messageText } from '../../../contract/telegram-message.ts'

export type MessageDraft = z.input<typeof Message>

const MEDIA: Record<Medium, { icon: typeof Image; words: string }> = {
  photo: { icon: Image, words: 'Photo' },
  video: { icon: Video, words: 'Video' },
  animation: { icon: Play, words: 'Animation' },
  document: { icon: FileText, words: 'File' },
}

/** With `withOptOut` an Unsubscribe button is added if the message has none. */
export function MessagePreview({ message, withOptOut }: { message: MessageDraft; withOptOut: boolean }) {
  const medium = mediumOf(message)
  const words = messageText(message)
  const isHtml = !('format' in message) || message.format !== 'plain'
  const buttons = message.buttons ?? []
  const hasOptOut = buttons.flat().some(button => 'opt_out' in button)
  return (
    <figure aria-label="Preview" className="flex max-w-80 flex-col gap-1 rounded-lg bg-sunken p-3">
      <div className="overflow-hidden rounded-lg rounded-bl-sm bg-surface shadow-sm">
        {medium !== undefined && <MediaBox medium={medium.kind} file={medium.file} />}
        {'copy' in message ? (
          <p className="px-3 py-2 text-ink-faint italic">
            A copy of message {message.copy.message_id} of {String(message.copy.chat_id)}
          </p>
        ) : (
          <p className="px-3 py-2 break-words whitespace-pre-wrap">
            {words === '' ? (
              <span className="text-ink-faint">{medium === undefined ? 'Your message' : 'No caption'}</span>
            ) : isHtml ? (
              <Html html={words} />
            ) : (
              <WithMacros text={words} />
            )}
          </p>
        )}
        {message.protect === true && (
          <p className="flex items-center gap-1 px-3 pb-1.5 text-sm text-ink-faint">
            <Lock aria-hidden className="size-3" /> Forwarding and saving are blocked
          </p>
        )}
      </div>
      {buttons.map((row, at) => (
        <div key={at} className="flex gap-1">
          {row.map((button, place) => (
            <ButtonKey key={place} words={button.text} title={'url' in button ? button.url : undefined} />
          ))}
        </div>
      ))}
      {withOptOut && !hasOptOut && (
        <ButtonKey words="Unsubscribe" title="Added automatically, because the message has none" />
      )}
    </figure>
  )
}

const ButtonKey = ({ words, title }: { words: string; title?: string | undefined }) => (
  <span
    title={title}
    className="min-w-0 flex-1 truncate rounded-md bg-surface/70 px-2 py-1 text-center text-sm font-medium text-accent"
  >
    {words === '' ? '…' : words}
  </span>
)

function MediaBox({ medium, file }: { medium: Medium; file: string }) {
  const { icon: Icon, words } = MEDIA[medium]
  return (
    <div className="flex h-32 flex-col items-center justify-center gap-1 bg-line/40 px-3 text-ink-faint" title={file}>
      <Icon aria-hidden className="size-6" strokeWidth={1.5} />
      <span className="max-w-full truncate text-sm">{file === '' ? words : file}</span>
    </div>
  )
}

function Html({ html }: { html: string }) {
  const read = readHtml(html)
  return 'fault' in read ? <WithMacros text={html} /> : <Pieces pieces={read.pieces} />
}

const Pieces = ({ pieces }: { pieces: readonly Piece[] }): ReactNode =>
  pieces.map((piece, at) =>
    typeof piece === 'string' ? (
      <WithMacros key={at} text={piece} />
    ) : (
      <Tagged key={at} tag={piece.tag}>
        <Pieces pieces={piece.inside} />
      </Tagged>
    ),
  )

const PLAIN_TAGS: Readonly<Record<string, 'b' | 'i' | 'u' | 's'>> = { b: 'b', i: 'i', u: 'u', s: 's' }

function Tagged({ tag, children }: { tag: string; children: ReactNode }) {
  const Plain = PLAIN_TAGS[tag]
  if (Plain !== undefined) return <Plain>{children}</Plain>
  if (tag === 'a') return <span className="text-accent underline">{children}</span>
  if (tag === 'code') return <code className="font-mono text-sm">{children}</code>
  if (tag === 'pre') return <code className="block rounded-sm bg-sunken p-1.5 font-mono text-sm">{children}</code>
  if (tag === 'blockquote') return <span className="block border-l-2 border-accent pl-2">{children}</span>
  if (tag === 'spoiler')
    return (
      <span className="rounded-sm bg-line px-0.5" title="Hidden until it is tapped">
        {children}
      </span>
    )
  return <Fragment>{children}</Fragment>
}

/** Text with its macros highlighted: the first name as its alternative, other macros by their names. */
function WithMacros({ text }: { text: string }) {
  const parts: ReactNode[] = []
  let end = 0
  for (const found of text.matchAll(MESSAGE_MACRO)) {
    const [macro, name = '', alternative] = found
    parts.push(text.slice(end, found.index))
    parts.push(
      <span key={found.index} className="rounded-sm bg-accent-soft px-0.5 text-accent" title={macro}>
        {name === 'first_name' ? (alternative ?? 'Ann') : `{${name}}`}
      </span>,
    )
    end = found.index + macro.length
  }
  return [...parts, text.slice(end)]
}

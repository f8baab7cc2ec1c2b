/** The tags and the note of an object, each saved at once. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import type { Endpoint } from '../../../contract/endpoint.ts'
import type { Labels, noteEndpoint, tagsEndpoint } from '../../../contract/labels.ts'
import { reasonAgainst, useActive } from '../active.ts'
import { call } from '../call.ts'
import { TextArea } from '../ui/field.tsx'
import { useRefresh } from '../ui/refresh.ts'
import { RefusalNote } from '../ui/refusal.tsx'
import { notify } from '../ui/toast.tsx'
import { TagDot, useTags } from './tag-dots.tsx'

type LabelFieldsProps = {
  of: Labels & { id: string }
  setTags: ReturnType<typeof tagsEndpoint>
  setNote: ReturnType<typeof noteEndpoint>
  /** The endpoints whose answers show the tags or the note. */
  shownIn: readonly Endpoint[]
}

export function LabelFields({ of: { id, tag_ids, note }, setTags, setNote, shownIn }: LabelFieldsProps) {
  const refresh = useRefresh()
  const { role } = useActive()
  const tags = useTags()
  const saveTags = useMutation({
    mutationFn: (chosen: string[]) => call(setTags, { params: { id }, body: { tag_ids: chosen } }),
    onSuccess: () => refresh(...shownIn),
  })
  const saveNote = useMutation({
    mutationFn: (text: string) => call(setNote, { params: { id }, body: { note: text } }),
    onSuccess: async () => {
      await refresh(...shownIn)
      notify('The note is saved')
    },
  })
  const reason = reasonAgainst(setTags, role)
  const chosen = saveTags.isPending ? saveTags.variables : tag_ids
  return (
    <div className="flex flex-col gap-4">
      <fieldset disabled={reason !== undefined || saveTags.isPending} className="min-w-0">
        <legend className="mb-1 font-medium">Tags</legend>
        {tags.length === 0 ? (
          <p className="text-ink-soft">
            There are no tags yet.{' '}
            <Link to="/settings/tags" className="text-accent hover:underline">
              Add tags
            </Link>
          </p>
        ) : (
          <div className="flex flex-wrap gap-1.5">
            {tags.map(({ id: tag_id, name, color }) => {
              const isOn = chosen.includes(tag_id)
              return (
                <button
                  key={tag_id}
                  type="button"
                  aria-pressed={isOn}
                  className={clsx(
                    'inline-flex items-center gap-1.5 rounded-full border px-2.5 py-0.5 text-sm',
                    isOn ? 'border-accent bg-accent-soft font-medium' : 'border-line text-ink-soft hover:bg-sunken',
                  )}
                  onClick={() => saveTags.mutate(isOn ? tag_ids.filter(one => one !== tag_id) : [...tag_ids, tag_id])}
                >
                  <TagDot color={color} />
                  {name}
                </button>
              )
            })}
          </div>
        )}
      </fieldset>
      <TextArea
        key={note}
        label="Note"
        optional
        rows={3}
        maxLength={4000}
        readOnly={reason !== undefined}
        defaultValue={note ?? ''}
        hint="For your team. Saved when you leave the field."
        onBlur={event => {
          if (event.target.value.trim() !== (note ?? '')) saveNote.mutate(event.target.value)
        }}
      />
      <RefusalNote refused={saveTags.error ?? saveNote.error} />
    </div>
  )
}

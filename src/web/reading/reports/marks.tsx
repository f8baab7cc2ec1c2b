/** What explains a change of figures: notes of days, and campaigns and click flows that were changed. The chart marks their days. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import { listMarks, type Mark } from '../../../people/history/api.ts'
import { createNote, listNotes } from '../../../traffic/notes/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import type { Days } from '../../ground/figures/window.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextArea, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'

/** A mark with its words. */
export type DayMark = z.input<typeof Mark> & { readonly words: string }

const WORDS: Readonly<Record<Exclude<DayMark['kind'], 'note'>, string>> = {
  paused: 'Paused',
  resumed: 'Resumed',
  archived: 'Archived',
  published: 'Published',
  rule: 'Changed by a rule',
}

/** The marks of these days, oldest first: of the campaign and the whole workspace, or of all campaigns. */
export function useMarks({ from, to }: Days, campaign: string | undefined): readonly DayMark[] {
  const asked = { date_from: from, date_to: to, ...(campaign === undefined ? {} : { campaign_id: campaign }) }
  const marks = useQuery(ask(listMarks, { query: asked })).data?.data ?? []
  return marks.map(mark => ({
    ...mark,
    words: mark.kind === 'note' ? mark.text : `${WORDS[mark.kind]}: ${mark.text}`,
  }))
}

const MOST_SHOWN = 6

type MarkListProps = { marks: readonly DayMark[]; campaign: string | undefined; today: string }

/** Newest day first. Of one day the notes come first, because people wrote them to be read. */
const inOrder = (one: DayMark, other: DayMark): number =>
  other.day.localeCompare(one.day) ||
  Number(other.kind === 'note') - Number(one.kind === 'note') ||
  other.at.localeCompare(one.at)

/** The newest marks in words, the others when asked for, and the button that adds a note. */
export function MarkList({ marks, campaign, today }: MarkListProps) {
  const { role } = useActive()
  const [isAdding, setAdding] = useState(false)
  const [showsAll, setShowsAll] = useState(false)
  const listed = marks.toSorted(inOrder).slice(0, showsAll ? marks.length : MOST_SHOWN)
  return (
    <div className="flex flex-wrap items-start gap-x-4 gap-y-2 border-t border-line px-5 py-2.5 text-sm">
      <ul aria-label="Notes and changes" className="flex min-w-0 flex-1 flex-col gap-0.5">
        {listed.map(({ at, day: on, words, kind, campaign_id }) => (
          <li key={`${at} ${words}`} className="flex min-w-0 gap-2">
            <span className="shrink-0 text-ink-faint">{day(on)}</span>
            <span className="min-w-0 wrap-anywhere">{words}</span>
            {kind !== 'note' && campaign_id !== null && (
              <Link
                to="/history"
                search={{ kind: 'campaign', id: campaign_id }}
                className="shrink-0 text-accent hover:underline"
              >
                History
              </Link>
            )}
          </li>
        ))}
        {listed.length < marks.length && (
          <li>
            <Button size="sm" look="quiet" className="-ml-2" onClick={() => setShowsAll(true)}>
              {`Show ${marks.length - listed.length} more`}
            </Button>
          </li>
        )}
      </ul>
      <Button size="sm" reason={reasonAgainst(createNote, role)} onClick={() => setAdding(true)}>
        Add a note
      </Button>
      <Dialog
        open={isAdding}
        onClose={() => setAdding(false)}
        title="Add a note"
        description="It stands on the chart at its day."
      >
        <NoteForm campaign={campaign} today={today} onClose={() => setAdding(false)} />
      </Dialog>
    </div>
  )
}

type NoteFormProps = Omit<MarkListProps, 'marks'> & { onClose: () => void }

function NoteForm({ campaign, today, onClose }: NoteFormProps) {
  const form = useDraft(createNote.body, { day: today, text: '', campaign_id: campaign ?? null })
  const { errors } = form.formState
  return (
    <DraftForm
      form={form}
      action="Add note"
      endpoint={createNote}
      deed={body => call(createNote, { body })}
      refresh={[listMarks, listNotes]}
      onClose={onClose}
      onSaved={() => notify('The note is added')}
    >
      <TextField label="Day" type="date" error={errors.day?.message} {...form.register('day')} />
      <TextArea label="Note" rows={3} error={errors.text?.message} {...form.register('text')} />
    </DraftForm>
  )
}

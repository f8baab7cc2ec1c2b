/** The tags of the workspace: name and colour, by which lists and reports are filtered. */
import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, Tags } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { createTag, deleteTag, listTags, type Tag, TAG_COLORS, TagDraft, updateTag } from '../../../traffic/tags/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { TagDot } from '../../ground/many/tag-dots.tsx'
import { inWords } from '../../ground/rungs.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { MenuItem } from '../../ground/ui/menu.tsx'
import { EmptyState, Loaded, PageHeader } from '../../ground/ui/page.tsx'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'

type TagRow = z.input<typeof Tag>

export function TagsPage() {
  const tags = useQuery(ask(listTags, { query: { limit: 200 } }))
  const { role } = useActive()
  const [editing, setEditing] = useState<TagRow | 'new'>()
  const add = (
    <Button look="primary" icon={Plus} reason={reasonAgainst(createTag, role)} onClick={() => setEditing('new')}>
      New tag
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Tags"
        words="Labels for campaigns, offers, landings, funnels, click flows, sources and networks. Select rows in a list to tag them."
      >
        {add}
      </PageHeader>
      <Loaded query={tags}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon={Tags} title="No tags yet" words="Group your objects, such as by vertical or buyer.">
              {add}
            </EmptyState>
          ) : (
            <TagTable tags={data} onEdit={setEditing} />
          )
        }
      </Loaded>
      <Dialog
        open={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title={editing === 'new' || editing === undefined ? 'New tag' : `Edit ${editing.name}`}
      >
        {editing !== undefined && (
          <TagForm tag={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />
        )}
      </Dialog>
    </>
  )
}

function TagTable({ tags, onEdit }: { tags: readonly TagRow[]; onEdit: (tag: TagRow) => void }) {
  return (
    <Table caption="Tags">
      <thead>
        <tr>
          <Head>Name</Head>
          <Head>Created</Head>
          <ActionHead />
        </tr>
      </thead>
      <tbody>
        {tags.map(tag => (
          <Row key={tag.id}>
            <RowHead>
              <span className="inline-flex items-center gap-2">
                <TagDot color={tag.color} />
                {tag.name}
              </span>
            </RowHead>
            <Cell>{day(tag.created_at)}</Cell>
            <ActionCell>
              <RowMenu name={tag.name}>
                <MenuItem icon={Pencil} onSelect={() => onEdit(tag)}>
                  Edit
                </MenuItem>
                <DeleteItem
                  name={tag.name}
                  what="tag"
                  endpoint={deleteTag}
                  refresh={[listTags]}
                  words="It is taken off all objects. The objects stay."
                  deed={() => call(deleteTag, { params: { id: tag.id } })}
                />
              </RowMenu>
            </ActionCell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function TagForm({ tag, onClose }: { tag: TagRow | undefined; onClose: () => void }) {
  const form = useDraft<z.input<typeof TagDraft>>(TagDraft, { name: tag?.name ?? '', color: tag?.color ?? 'blue' })
  return (
    <DraftForm
      form={form}
      action={tag === undefined ? 'Add tag' : 'Save tag'}
      endpoint={tag === undefined ? createTag : updateTag}
      deed={body => (tag === undefined ? call(createTag, { body }) : call(updateTag, { params: { id: tag.id }, body }))}
      refresh={[listTags]}
      onClose={onClose}
      onSaved={({ name }) => notify(tag === undefined ? `${name} is added` : `${name} is saved`)}
    >
      <TextField label="Name" error={form.formState.errors.name?.message} {...form.register('name')} />
      <SelectField label="Color" {...form.register('color')}>
        {TAG_COLORS.map(color => (
          <option key={color} value={color}>
            {inWords(color)}
          </option>
        ))}
      </SelectField>
    </DraftForm>
  )
}

/**
 * The form for the person's picture. The browser cuts the chosen file square and makes it small; drawing it anew also removes its
 * metadata, such as where it was taken.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ImageUp, Trash2 } from 'lucide-react'
import { useRef } from 'react'
import { deleteAvatar, setAvatar } from '../../../people/accounts/api.ts'
import { listMembers } from '../../../people/organizations/api.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Face } from '../../ground/ui/face.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { type SignedIn, whoIsSignedIn } from './session.ts'

/** The side in pixels: four times the shown size, for high-density screens. */
const SIDE = 256

export function AvatarForm({ user }: { user: SignedIn['user'] }) {
  const queries = useQueryClient()
  const input = useRef<HTMLInputElement>(null)
  const finish = async (news: string) => {
    await Promise.all(
      [whoIsSignedIn.queryKey, [listMembers.route]].map(queryKey => queries.invalidateQueries({ queryKey })),
    )
    notify(news)
  }
  const save = useMutation({
    mutationFn: async (file: File) => call(setAvatar, { body: { image: await squareOf(file) } }),
    onSuccess: () => finish('Your picture is saved'),
  })
  const remove = useMutation({
    mutationFn: () => call(deleteAvatar),
    onSuccess: () => finish('Your picture is removed'),
  })
  const hasPicture = typeof user.image === 'string'
  return (
    <div className="flex flex-col items-start gap-3">
      <div className="flex items-center gap-4">
        <Face name={user.name} image={user.image} size="lg" />
        <div className="flex flex-wrap gap-2">
          <input
            ref={input}
            type="file"
            accept="image/*"
            aria-label="Image file"
            hidden
            onChange={({ target }) => {
              const [file] = target.files ?? []
              if (file !== undefined) save.mutate(file)
              // Without this, choosing the same file again would not fire a change event.
              target.value = ''
            }}
          />
          <Button icon={ImageUp} pending={save.isPending} onClick={() => input.current?.click()}>
            {hasPicture ? 'Change picture' : 'Choose picture'}
          </Button>
          {hasPicture && (
            <Button look="danger-quiet" icon={Trash2} pending={remove.isPending} onClick={() => remove.mutate()}>
              Remove
            </Button>
          )}
        </div>
      </div>
      <RefusalNote refused={save.error ?? remove.error} />
    </div>
  )
}

/** The middle of an image as a small square, in base64. @throws when the browser cannot read the file as an image. */
async function squareOf(file: File): Promise<string> {
  const image = await createImageBitmap(file).catch(() => {
    throw new Error('the browser cannot read this file as an image: choose a PNG, JPEG or WebP')
  })
  const side = Math.min(image.width, image.height)
  const canvas = document.createElement('canvas')
  canvas.width = SIDE
  canvas.height = SIDE
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('the browser cannot draw images')
  context.imageSmoothingQuality = 'high'
  context.drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, SIDE, SIDE)
  image.close()
  // A browser that cannot write WebP writes PNG instead.
  return canvas.toDataURL('image/webp', 0.9).replace(/^.*,/, '')
}

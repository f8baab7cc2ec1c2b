/** The answers to pages: JSON, or an image of one pixel. */
import type { Answer } from '../../ground/room.ts'

export const JSON_HEADERS = { 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' }

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** The image with a status. */
export const pixel = (status: number): Answer => ({
  status,
  headers: {
    'cache-control': 'no-store',
    'content-type': 'image/gif',
    'cross-origin-resource-policy': 'cross-origin',
  },
  body: PIXEL,
})

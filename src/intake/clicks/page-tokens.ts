/** The keys by which a visit is recognized: of its page token, and of the click ids of ad platforms. */
import { hash } from 'node:crypto'
import { AD_IDS } from '../../contract/ad-platforms.ts'
import type { Click } from './click.ts'

const TOKEN = /^[A-Za-z0-9_-]{22,43}$/

/** Whether the text is a page token. */
export const isPageToken = (text: unknown): text is string => typeof text === 'string' && TOKEN.test(text)

/** The stored form of a page token, as a uuid: its hash, which is shorter and always of one length. */
export const tokenKey = (token: string): string => uuidOf(`page ${token}`)

/** The keys of the ad platforms' click ids that a click has, in a fixed order. */
export function platformKeys(click: Pick<Click, 'campaign_id' | (typeof AD_IDS)[number]>): string[] {
  return AD_IDS.flatMap(name => (click[name] === null ? [] : uuidOf(`${click.campaign_id} ${name} ${click[name]}`)))
}

function uuidOf(text: string): string {
  const hex = hash('sha256', text, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

// Finds clicks by their id, for visitors who go on from a landing page. The latest are cached: visitors usually go on within minutes, and the
// cache also works while the database is away and the clicks are in the journal.
import type pg from 'pg'
import { AD_IDS } from '../../contract/ad-platforms.ts'
import { SUBS } from '../../contract/fields.ts'
import { timeOfId, toWireId } from '../../contract/ids.ts'
import { keepRecent } from '../../ground/recent.ts'
import type { MacroValues } from '../../traffic/addresses/macros.ts'
import type { Click } from './click.ts'
import { organizationOfClick } from './click-id.ts'
import { within } from './deadline.ts'

const COLUMNS = [
  'org_id',
  'id',
  'campaign_id',
  'offer_id',
  'landing_id',
  'bot_id',
  'click_flow_node_path',
  'ref_id',
  ...SUBS,
  'geo',
  'device',
  'os',
  'browser',
  'way',
  'left_out',
  'visitor_id',
  ...AD_IDS,
] as const satisfies readonly (keyof Click)[]

/** The columns of a click that are needed when its visitor goes on. */
export type FoundClick = Pick<Click, (typeof COLUMNS)[number]>

export type FoundClicks = {
  /** Caches a click that was just stored. */
  note: (click: FoundClick) => void
  /** The click with this id, a canonical uuid; undefined if there is none. @throws while the database is away. */
  find: (id: string) => Promise<FoundClick | undefined>
}

/** The last minutes of a busy site, at about 1 KB each. */
const KEPT = 10_000
/** A visitor is waiting; a database that takes longer counts as hanging. */
const FIND_MS = 1500

/** Where an id leads that was handed out for a click which was found to be another one. */
export const FIND_ALIAS = 'select click_id from click_aliases where org_id = $1 and id = $2'

const FIND = `select ${COLUMNS.join(', ')} from clicks where org_id = $1 and id = $2`

/** Caches the latest clicks of this process, and reads others from the organization that the id names. */
export function openFoundClicks(pool: pg.Pool, clickKey: Uint8Array): FoundClicks {
  const latest = keepRecent<FoundClick>(KEPT)
  return {
    note: click => void latest.set(click.id, click),
    async find(id) {
      const known = latest.get(id)
      if (known !== undefined) return known
      const org_id = organizationOfClick(clickKey, id)
      if (org_id === undefined) return undefined
      const read = async (click_id: string) => (await pool.query<FoundClick>(FIND, [org_id, click_id])).rows[0]
      const found = async () => {
        const click = await read(id)
        if (click !== undefined) return click
        const { rows } = await pool.query<{ click_id: string }>(FIND_ALIAS, [org_id, id])
        return rows[0] && (await read(rows[0].click_id))
      }
      return await within(FIND_MS, found())
    },
  }
}

/** The values of URL macros for a stored click. */
export function valuesOfClick(click: FoundClick): MacroValues {
  const wire = (id: string | null) => (id === null ? null : toWireId(id))
  return {
    ...click,
    click_id: toWireId(click.id),
    campaign_id: wire(click.campaign_id),
    offer_id: wire(click.offer_id),
    landing_id: wire(click.landing_id),
    timestamp: String(Math.floor(timeOfId(click.id) / 1000)),
  }
}

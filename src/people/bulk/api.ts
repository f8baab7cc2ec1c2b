/** One change of many objects, over HTTP. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { Address } from '../../contract/address.ts'
import { CampaignCostDraft } from '../../contract/campaign-cost.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Id } from '../../contract/fields.ts'
import { HistoryField } from '../history/api.ts'

/** The most objects of one call. */
export const MOST_OBJECTS = 500
/** So many ids are read, so that more than MOST_OBJECTS are refused by name. */
const MOST_IDS = 20_000

const BulkAct = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.enum(['pause', 'resume', 'archive', 'clone']) }),
    z.strictObject({ type: z.enum(['tag', 'untag']), tag_id: Id }),
    z.strictObject({ type: z.literal('replace_offer'), from_offer_id: Id, to_offer_id: Id }).meta({
      description:
        'Puts an offer in the place of another one: in the destination and the offer of campaigns, in funnels, and in the drafts of click flows',
    }),
    z.strictObject({ type: z.literal('set_fallback'), fallback_url: Address.nullable() }),
    z.strictObject({ type: z.literal('set_ad_account'), ad_account_id: Id.nullable() }),
    z.strictObject({ type: z.literal('set_cost'), cost: CampaignCostDraft.nullable() }),
  ])
  .meta({ id: 'BulkAct' })
export type BulkAct = z.output<typeof BulkAct>

const BulkRequest = z
  .strictObject({
    ids: z.array(Id).max(MOST_IDS).optional(),
    filter: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .meta({ description: 'The query of the list of these objects, without limit and cursor' }),
    act: BulkAct,
    dry_run: z.boolean().meta({ description: 'true: says what would become of each object, and changes nothing' }),
    leave_out: z.array(Id).max(MOST_IDS).default([]).meta({ description: 'Ids that are not touched' }),
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
    message: 'send either ids or filter',
  })
const BulkRow = z
  .object({
    id: Id,
    name: z.string().nullable().meta({ description: 'null if there is no such object' }),
    fate: z.enum(['changes', 'same', 'refused']),
    fields: z.array(HistoryField).meta({ description: 'What changes, as in the history' }),
    code: z
      .string()
      .nullable()
      .meta({ description: 'Of a refused one: not_found, is_archived, or the code of the single write' }),
    error: z.string().nullable(),
    made_id: Id.nullable().meta({ description: 'The copy that was made; null in a dry run' }),
  })
  .meta({ id: 'BulkRow' })

const BulkAnswer = z
  .object({
    dry_run: z.boolean(),
    act_id: Id.nullable().meta({ description: 'The act in the history; null in a dry run' }),
    changed: z.int(),
    same: z.int(),
    refused: z.int(),
    data: z.array(BulkRow).meta({ description: 'In the order of the ids or of the list' }),
  })
  .meta({ id: 'BulkAnswer' })
export type BulkRow = z.output<typeof BulkRow>

/** The route is named by the list of the objects; `acts` names what it can do with them. */
const bulk = <Route extends `POST /api/${string}/bulk`>(route: Route, objects: string, acts: string) =>
  endpoint({
    route,
    access: { session: 'admin' },
    history: { none: 'each object that it changes has a row of its own kind' },
    summary: `Change many ${objects} at once`,
    description:
      `${acts} Changes what can be changed and names each object that cannot, by the same checks as single writes. At most ${MOST_OBJECTS} objects; an id that is sent twice counts once. ` +
      'All changes share one act_id of the history and can be put back as one act. A dry run answers the same and changes nothing.',
    body: BulkRequest,
    reply: BulkAnswer,
    refuses: ['too_many_objects', 'invalid_request'],
  })

export const changeCampaigns = bulk(
  'POST /api/campaigns/bulk',
  'campaigns',
  'Acts: pause, resume, archive, clone, tag, untag, replace_offer, set_fallback, set_ad_account, set_cost.',
)
export const changeOffers = bulk('POST /api/offers/bulk', 'offers', 'Acts: archive, resume, clone, tag, untag.')
export const changeLandings = bulk('POST /api/landings/bulk', 'landings', 'Acts: archive, resume, clone, tag, untag.')
export const changeFunnels = bulk('POST /api/funnels/bulk', 'funnels', 'Acts: clone, tag, untag, replace_offer.')
export const changeClickFlows = bulk(
  'POST /api/click-flows/bulk',
  'click flows',
  'Acts: pause, resume, archive, clone, tag, untag, replace_offer.',
)
export const changeTrafficSources = bulk(
  'POST /api/traffic-sources/bulk',
  'traffic sources',
  'Acts: clone, tag, untag.',
)
export const changePostbacks = bulk('POST /api/postbacks/bulk', 'postback rules', 'Acts: pause, resume, clone.')
export const changeSubscribers = bulk(
  'POST /api/subscribers/bulk',
  'subscribers',
  'Subscribers have no acts yet, so each one is refused; `POST /api/subscribers/csv` exports them.',
)

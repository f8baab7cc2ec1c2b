// The demo's saved views, with questions of a media buyer: two private ones, and one of the workspace.
import type { Transaction } from 'kysely'
import type { ExploreQuestion } from '../src/contract/explore.ts'
import { newId, toWireId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import type { Place } from './traffic.ts'

/** The question, and the parameters of the screen's address for it. */
type View = { name: string; is_shared: boolean; question: ExploreQuestion; screen: object }

function viewsOf(places: readonly Place[]): View[] {
  const buying = places.filter(({ campaign }) => campaign.dearZones !== undefined)
  const pushed = buying.map(({ campaign_id }) => toWireId(campaign_id))
  return [
    {
      name: 'Zones that lose money',
      is_shared: true,
      question: {
        levels: [{ dimension: 'sub1' }, { dimension: 'geo' }],
        filters: [{ dimension: 'campaign', op: 'in', values: pushed }],
        sort: { by: 'profit', descending: false },
        measures: ['clicks', 'conversions', 'revenue', 'cost', 'profit', 'cpa', 'cr', 'roi'],
      },
      screen: {
        range: '30d',
        by: 'sub1,geo',
        where: [['campaign', 'is', ...pushed]],
        sort: 'profit',
        columns: 'clicks,conversions,cr,revenue,cost,profit,roi,cpa',
        colours: [
          ['roi', 'below', -50, 'bad'],
          ['roi', 'above', 0, 'good'],
        ],
      },
    },
    {
      name: 'Creatives by country',
      is_shared: false,
      question: {
        levels: [{ dimension: 'sub1' }, { dimension: 'geo' }],
        filters: [{ dimension: 'platform', op: 'in', values: ['meta', 'tiktok'] }],
        sort: { by: 'revenue', descending: true },
        measures: ['clicks', 'landed', 'conversions', 'revenue', 'epc', 'cr', 'unique_visitors'],
        compare: 'before',
      },
      screen: {
        range: '30d',
        by: 'sub1,geo',
        where: [['platform', 'is', 'meta', 'tiktok']],
        sort: '-revenue',
        compare: 'before',
        columns: 'clicks,unique_visitors,=Lands,conversions,cr,epc,revenue',
        own: [['Lands', 'landed / clicks', 'percent']],
      },
    },
    {
      name: 'Hours',
      is_shared: false,
      question: {
        levels: [{ dimension: 'campaign' }],
        measures: ['clicks', 'conversions', 'revenue'],
      },
      screen: { range: '90d', view: 'hours', shade: 'revenue', columns: 'clicks,conversions,revenue' },
    },
  ]
}

export async function insertViews(
  trx: Transaction<Tables>,
  { org_id, user_id, now }: { org_id: number; user_id: string; now: number },
  places: readonly Place[],
): Promise<void> {
  const at = new Date(now).toISOString()
  const rows = viewsOf(places).map(({ question, screen, ...view }) => ({
    org_id,
    id: newId(),
    ...view,
    question: JSON.stringify(question),
    screen: JSON.stringify(screen),
    is_start_page: false,
    created_by: user_id,
    created_at: at,
    updated_at: at,
  }))
  await trx.insertInto('explore_views').values(rows).execute()
}

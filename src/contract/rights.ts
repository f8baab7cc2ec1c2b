/** The 26 rights of keys, declared once. The gate's refusals, the grant editor and the tools' hints are made from this. */

export const TIERS = ['read', 'write', 'delete'] as const
export type Tier = (typeof TIERS)[number]

/** Whether a key's campaign list restricts the right, or it always covers the whole organization. */
type Reach = 'campaigns' | 'organization'

const right = (tier: Tier, reach: Reach, means: string) => ({ tier, reach, means })

export const RIGHTS = {
  report: right('read', 'campaigns', 'Read the funnel report'),
  clicks: right('read', 'campaigns', 'Read the click feed'),

  campaigns: right('write', 'campaigns', 'Create campaigns'),
  offers: right('write', 'organization', 'Create offers'),
  'offers:status': right('write', 'organization', 'Archive and unarchive offers'),
  landings: right('write', 'organization', 'Create landings'),
  'landings:status': right('write', 'organization', 'Archive and unarchive landings'),
  funnels: right('write', 'organization', 'Create funnels'),
  'click-flows': right('write', 'campaigns', 'Create click flows'),
  'click-flows:status': right('write', 'campaigns', 'Take click flows off traffic and archive them'),
  events: right(
    'write',
    'campaigns',
    'Report conversions: charges the balance, forwards to ad accounts, fires postbacks',
  ),

  'campaigns:update': right('delete', 'campaigns', 'Rewrite campaigns'),
  'campaigns:delete': right('delete', 'campaigns', 'Delete campaigns'),
  'offers:update': right('delete', 'organization', 'Replace offers whole; fields not sent are cleared'),
  'offers:delete': right('delete', 'organization', 'Delete offers'),
  'landings:update': right('delete', 'organization', 'Replace landings whole; fields not sent are cleared'),
  'landings:delete': right('delete', 'organization', 'Delete landings'),
  'funnels:update': right('delete', 'organization', 'Rewrite funnels'),
  'funnels:delete': right('delete', 'campaigns', 'Delete funnels'),
  'click-flows:update': right('delete', 'organization', 'Overwrite click flows without reading them first'),
  'click-flows:delete': right('delete', 'campaigns', 'Delete click flows'),
  'click-flows:publish': right('delete', 'campaigns', 'Put a click flow into live traffic'),
  postbacks: right('delete', 'campaigns', 'Create postback rules that call an address for every matching conversion'),
  'postbacks:update': right('delete', 'campaigns', 'Edit postback rules'),
  'postbacks:delete': right('delete', 'campaigns', 'Delete postback rules'),
  'ad-spend': right('delete', 'campaigns', 'Record ad spend; an empty amount deletes the row'),
} as const

export type Right = keyof typeof RIGHTS

export const ALL_RIGHTS = Object.keys(RIGHTS) as Right[]

/** Whether the text is one of the 26 slugs. */
export function isRight(slug: string): slug is Right {
  return Object.hasOwn(RIGHTS, slug)
}

/** The rights of one tier, in the order of their declaration. */
export function rightsOf(tier: Tier): Right[] {
  return ALL_RIGHTS.filter(slug => RIGHTS[slug].tier === tier)
}

/** What traffic sources call the values they fill in, by our fields. Each sends its own click id besides (fbclid, ttclid, gclid). */
import type { SUBS } from './fields.ts'

type Fills = { readonly [F in 'ref_id' | (typeof SUBS)[number]]?: string }
type SourceTemplate = { readonly name: string; readonly fills: Fills }

/** By the id that a campaign's source keeps. Macros as the sources document them. */
export const SOURCE_TEMPLATES = {
  meta: {
    name: 'Meta',
    fills: {
      sub1: '{{ad.name}}',
      sub2: '{{adset.name}}',
      sub3: '{{campaign.name}}',
      sub4: '{{placement}}',
      sub5: '{{ad.id}}',
    },
  },
  tiktok: {
    name: 'TikTok',
    fills: {
      sub1: '__CID_NAME__',
      sub2: '__AID_NAME__',
      sub3: '__CAMPAIGN_NAME__',
      sub4: '__PLACEMENT__',
      sub5: '__CID__',
    },
  },
  google: {
    name: 'Google Ads',
    fills: { sub1: '{creative}', sub2: '{adgroupid}', sub3: '{campaignid}', sub4: '{keyword}', sub5: '{device}' },
  },
  propellerads: {
    name: 'PropellerAds (push, pop)',
    fills: { ref_id: '${SUBID}', sub1: '{zoneid}', sub2: '{bannerid}', sub3: '{campaignid}' },
  },
  richads: {
    name: 'RichAds (push)',
    fills: {
      ref_id: '[CLICK_ID]',
      sub1: '[PUBLISHER_ID]',
      sub2: '[CREATIVE_ID]',
      sub3: '[CAMPAIGN_ID]',
      sub4: '[SITE_ID]',
    },
  },
  mgid: {
    name: 'MGID (native)',
    fills: { ref_id: '{click_id}', sub1: '{widget_id}', sub2: '{teaser_id}', sub3: '{campaign_id}' },
  },
  taboola: {
    name: 'Taboola (native)',
    fills: { ref_id: '{click_id}', sub1: '{site_id}', sub2: '{campaign_item_id}', sub3: '{campaign_id}' },
  },
  exoclick: {
    name: 'ExoClick',
    fills: { ref_id: '{conversions_tracking}', sub1: '{zone_id}', sub2: '{variation_id}', sub3: '{campaign_id}' },
  },
} as const satisfies Readonly<Record<string, SourceTemplate>>

export type SourceTemplateId = keyof typeof SOURCE_TEMPLATES

/** The template of that id: one kept by a later version may be unknown here. */
export function sourceTemplateOf(id: string | null | undefined): SourceTemplate | undefined {
  return isTemplate(id) ? SOURCE_TEMPLATES[id] : undefined
}

export function isTemplate(id: string | null | undefined): id is SourceTemplateId {
  return id != null && Object.hasOwn(SOURCE_TEMPLATES, id)
}

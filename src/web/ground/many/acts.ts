/** Acts on many objects: their words and pictures, and the form of their endpoints. */
import { Archive, Copy, Pause, Play, Replace, Route, Tag } from 'lucide-react'
import type { BulkAct, changeCampaigns } from '../../../people/bulk/api.ts'

export type ActType = BulkAct['type']
/** An endpoint of one change of many objects. All of them have the same form. */
export type BulkEndpoint = Omit<typeof changeCampaigns, 'route'> & { readonly route: `POST /api/${string}/bulk` }

/** The words and pictures of acts. */
export const ACT_WORDS = {
  pause: { words: 'Pause', icon: Pause },
  resume: { words: 'Resume', icon: Play },
  archive: { words: 'Archive', icon: Archive },
  clone: { words: 'Clone', icon: Copy },
  tag: { words: 'Add a tag', icon: Tag },
  untag: { words: 'Take off a tag', icon: Tag },
  replace_offer: { words: 'Replace an offer', icon: Replace },
  set_fallback: { words: 'Set the fallback', icon: Route },
  set_ad_account: { words: 'Set the ad account', icon: Route },
  set_cost: { words: 'Set the cost', icon: Route },
} as const satisfies Record<ActType, object>

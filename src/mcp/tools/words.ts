/** Words that several tools share, so that one thing is always called the same. */
import { MACROS } from '../../traffic/addresses/macros.ts'

export const CAMPAIGN_ID = 'From service_create_campaign, clicks or a report.'
export const OFFER_ID = 'From service_create_offer, clicks or a report.'
export const LANDING_ID = 'From service_create_landing.'
export const FUNNEL_ID = 'From service_create_funnel.'
export const CLICK_FLOW_ID = 'From service_create_click_flow.'

/** Macros as a model is to write them, the nine subs as a range. */
export function macroList(names: readonly string[]): string {
  return names
    .filter(name => !/^sub[2-9]$/.test(name))
    .map(name => (name === 'sub1' ? '{sub1}…{sub9}' : `{${name}}`))
    .join(' ')
}

/** What an address of visitors may hold. */
export const VISIT_MACROS = macroList(MACROS)

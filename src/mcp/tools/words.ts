/** Texts that several tools share. */
import { MACROS } from '../../traffic/addresses/macros.ts'

export const CAMPAIGN_ID = 'From service_create_campaign, clicks or a report.'
export const OFFER_ID = 'From service_create_offer, clicks or a report.'
export const LANDING_ID = 'From service_create_landing.'
export const FUNNEL_ID = 'From service_create_funnel.'
export const CLICK_FLOW_ID = 'From service_create_click_flow.'

/** Macros in braces, with the nine subs as a range. */
export function macroList(names: readonly string[]): string {
  return names
    .filter(name => !/^sub[2-9]$/.test(name))
    .map(name => (name === 'sub1' ? '{sub1}…{sub9}' : `{${name}}`))
    .join(' ')
}

/** The macros allowed in addresses for visitors. */
export const VISIT_MACROS = macroList(MACROS)

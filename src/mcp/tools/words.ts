/** Texts that several tools share. */
export const CAMPAIGN_ID = 'From service_create_campaign, clicks or a report.'
export const OFFER_ID = 'From service_create_offer, clicks or a report.'
export const LANDING_ID = 'From service_create_landing.'
export const FUNNEL_ID = 'From service_create_funnel.'
export const CLICK_FLOW_ID = 'From service_create_click_flow.'

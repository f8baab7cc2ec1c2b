/** Texts that several tools share. Answers that create objects have their ids too; the instructions say so. */
export const CAMPAIGN_ID = 'From a report or clicks.'
export const OFFER_ID = 'From a report or clicks.'
export const LANDING_ID = 'From service_create_landing.'
export const FUNNEL_ID = 'From service_create_funnel.'
export const CLICK_FLOW_ID = 'From service_create_click_flow.'
/** Event types without their list, which service_report_conversion has. */
export const EVENT_TYPES_THERE = 'as in service_report_conversion'

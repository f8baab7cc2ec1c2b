/** Words that several tools share, so that one thing is always called the same. */
export const CAMPAIGN_ID = 'From service_create_campaign, service_list_clicks or a report by campaign.'
export const OFFER_ID = 'From service_create_offer, service_list_clicks or a report by offer.'
export const LANDING_ID = 'From service_create_landing.'
export const FUNNEL_ID = 'From service_create_funnel.'
export const CLICK_FLOW_ID = 'From service_create_click_flow.'

/** Fields of a tool that takes the same as the one that creates: said once, the list stays small. */
export function asCreated<const Fields extends object>(fields: Fields): { [F in keyof Fields]: string } {
  return Object.fromEntries(Object.keys(fields).map(name => [name, 'As when created.'])) as {
    [F in keyof Fields]: string
  }
}

/** Event types where the full choice would be said again. */
export const EVENT_TYPES_ELSEWHERE = 'as type of service_report_conversion takes them'

/** Words that several tools share, so that one thing is always called the same. */
export const CAMPAIGN_ID = 'Campaign id: from service_create_campaign, service_list_clicks or a report by campaign.'
export const OFFER_ID = 'Offer id: from service_create_offer, service_list_clicks or a report by offer.'
export const LANDING_ID = 'Landing id: from service_create_landing.'
export const FUNNEL_ID = 'Funnel id: from service_create_funnel.'
export const CLICK_FLOW_ID = 'Click flow id: from service_create_click_flow.'
export const PAYOUT =
  'US dollars a conversion without a payout of its own earns, 0 to 1000000, as "12.50". None: nothing.'
export const PAYOUT_TYPES = 'Event types that earn the payout. None: all of them.'

/** The reasons why Sluice refuses a conversion: the API's names, and the words the dashboard shows. */
import { z } from 'zod'

/** Who can fix it: the people of the workspace, the sender, or nobody needs to. */
export type Fault = 'yours' | 'sender' | 'nobody'

/** Why a request was not recorded, as far as Sluice can tell. `words` is its name, `advice` says how to fix it. */
export const DIAGNOSES = {
  macro_not_replaced: {
    fault: 'sender',
    words: 'Macro not replaced',
    advice: 'The sender did not replace a macro such as {click_id}. Write the macro the way that network writes it.',
  },
  click_id_missing: {
    fault: 'sender',
    words: 'No click id',
    advice: 'The request has no click id. Pass {click_id} in the offer’s URL, and have the network send it back.',
  },
  click_id_truncated: {
    fault: 'sender',
    words: 'Click id cut short',
    advice: 'A click id has 26 characters. Use a network parameter that holds all of them.',
  },
  click_id_malformed: {
    fault: 'sender',
    words: 'Not a click id',
    advice: 'The value is not a click id of Sluice. Check whether the network sends another macro in its place.',
  },
  click_unknown: {
    fault: 'sender',
    words: 'Unknown click',
    advice: 'No click has this id, and Sluice does not seem to have issued it.',
  },
  click_other_organization: {
    fault: 'yours',
    words: 'Click of another workspace',
    advice:
      'This installation issued the id to another workspace. Check whether the key or postback URL belongs to another workspace.',
  },
  click_not_stored: {
    fault: 'nobody',
    words: 'Click not stored',
    advice:
      'The id belongs to this workspace, but its click is not stored. The click is still being saved, its month was deleted, or it never happened. Run it again later.',
  },
  type_unknown: { fault: 'sender', words: 'Unknown type', advice: 'Send one of the event types.' },
  status_unmapped: {
    fault: 'yours',
    words: 'Unknown status',
    advice: 'The network’s status map does not have this status. Add it there, then run this again.',
  },
  status_ignored: {
    fault: 'nobody',
    words: 'Ignored by your status map',
    advice: 'The network’s status map ignores this status, and no conversion with this transaction id is recorded.',
  },
  payout_invalid: {
    fault: 'sender',
    words: 'Bad payout',
    advice: 'A payout is a plain decimal from 0 to 1,000,000, such as 12.50.',
  },
  currency_not_usd: {
    fault: 'sender',
    words: 'Not in US dollars',
    advice:
      'The network is set to US dollars only. Switch on conversion for it, then run this again, or have it send dollars.',
  },
  currency_missing: {
    fault: 'sender',
    words: 'No currency',
    advice:
      'Each postback of this network must name its currency. Add the currency macro to the postback URL, or set a currency for the network.',
  },
  rate_unknown: {
    fault: 'yours',
    words: 'No rate',
    advice:
      'No rate of the currency is known for the day it arrived. Under Settings, Rates, set your own rate or check why automatic rates failed, then run this again. It uses the rate of that day.',
  },
  nonce_invalid: {
    fault: 'sender',
    words: 'Bad transaction id',
    advice: 'A transaction id (nonce) has 1 to 128 characters.',
  },
  telegram_user_id_missing: {
    fault: 'sender',
    words: 'No Telegram user',
    advice: 'A bot start needs payload.telegram_user_id.',
  },
  telegram_user_id_invalid: {
    fault: 'sender',
    words: 'Bad Telegram user id',
    advice: 'Send payload.telegram_user_id as a whole number, or as text of at most 128 characters.',
  },
  bot_unknown: {
    fault: 'yours',
    words: 'Unknown bot',
    advice: 'This workspace does not have the named bot. Add it under Bots, then run this again.',
  },
  outside_campaigns: {
    fault: 'yours',
    words: 'Outside the key’s campaigns',
    advice: 'The key is restricted to campaigns, and the click belongs to another campaign.',
  },
  right_missing: {
    fault: 'yours',
    words: 'Right not granted',
    advice: 'The key does not have the right events. Grant it, then run this again.',
  },
  key_unusable: {
    fault: 'yours',
    words: 'Key not usable here',
    advice: 'The owner of the key is no longer an admin or member here, or its grant is unreadable.',
  },
  ip_not_listed: {
    fault: 'sender',
    words: 'IP not allowed',
    advice:
      'The network’s allowed IPs do not include the caller’s IP address. Add it there if it belongs to the network.',
  },
  network_off: { fault: 'yours', words: 'Network switched off', advice: 'Switch the network on, then run this again.' },
  body_unreadable: {
    fault: 'sender',
    words: 'Not readable',
    advice: 'The body is not JSON that can be stored. It cannot be run again.',
  },
  body_invalid: {
    fault: 'sender',
    words: 'Invalid field',
    advice: 'A field has a value that the API does not accept.',
  },
  differs_from_recorded: {
    fault: 'sender',
    words: 'Differs from what was recorded',
    advice:
      'The conversion is already recorded, and this postback did not change it. To let later postbacks change it, map the status to !reject or !refund, or allow payout updates for the network. If the network pays more than was recorded, record the rest by hand with a new transaction id. If it pays less or takes the payout back, compare this with its bill. If it is another conversion, have the network send a different transaction id for each.',
  },
  paid_for_other_types: {
    fault: 'yours',
    words: 'Worth nothing',
    advice:
      'The conversion is recorded, but its offer pays on other types. For later conversions, add this type to the offer, or map the status to the type the offer pays on. To pay for this one, approve it with an amount under Conversions. If this type is not paid, do nothing. Steps before the paid type, such as registrations, are listed once a day for each network and offer.',
  },
  conversion_unknown: {
    fault: 'sender',
    words: 'Conversion not found',
    advice:
      'The postback changes the status of a conversion, but the click has no conversion with this transaction id. Sluice retried for a day. Run it again once the conversion is recorded.',
  },
  conversion_ambiguous: {
    fault: 'sender',
    words: 'Several conversions match',
    advice:
      'The postback changes the status of a conversion, but the click has several. Have the network send the transaction id, or change the right one under Conversions.',
  },
  not_yours: {
    fault: 'sender',
    words: 'Not this network’s conversion',
    advice:
      'A network can only change conversions it reported itself. If the change is right, make it under Conversions.',
  },
  too_many_revisions: {
    fault: 'yours',
    words: 'Changed too often',
    advice: 'Its status was changed 100 times. Check which systems contradict each other.',
  },
  click_not_kept: {
    fault: 'nobody',
    words: 'Click no longer kept',
    advice: 'The month of its click was deleted, so its status can no longer change.',
  },
  failed: {
    fault: 'yours',
    words: 'Could not be stored',
    advice: 'The database could not store it. The service log says why.',
  },
  site_not_listed: {
    fault: 'yours',
    words: 'Site not listed',
    advice:
      'A page of a site that the campaign does not list reported it. If the site is yours, add it to the sites of the campaign.',
  },
  page_server_unknown: {
    fault: 'sender',
    words: 'Unknown page server',
    advice: 'The X-Sluice-Secret is of no page server of the campaign. Create one on the page of the campaign.',
  },
  not_kept: {
    fault: 'nobody',
    words: 'Too many to keep',
    advice: 'More was refused within a minute than Sluice keeps. The number says how many.',
  },
} as const satisfies Record<string, { fault: Fault; words: string; advice: string }>

export const Diagnosis = z.enum(Object.keys(DIAGNOSES) as [keyof typeof DIAGNOSES])
export type Diagnosis = keyof typeof DIAGNOSES

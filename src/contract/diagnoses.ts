/** Why intake is refused, in the words that the dashboard shows and the API names. */
import { z } from 'zod'

/** Who can mend it: the people of the workspace, whoever sent it, or nobody needs to. */
export type Fault = 'yours' | 'sender' | 'nobody'

/** Why a request was not recorded, as far as Sluice can tell: `words` name it, `advice` says what mends it. */
export const DIAGNOSES = {
  macro_not_replaced: {
    fault: 'sender',
    words: 'Macro not replaced',
    advice:
      'The sender sent a placeholder such as {click_id} as it is. Write the macro the way that network writes it.',
  },
  click_id_missing: {
    fault: 'sender',
    words: 'No click id',
    advice: 'The request holds no click id. Pass {click_id} on in the offer’s address, and have it sent back.',
  },
  click_id_truncated: {
    fault: 'sender',
    words: 'Click id cut short',
    advice: 'A click id has 26 characters. Use a parameter of the network that holds as many.',
  },
  click_id_malformed: {
    fault: 'sender',
    words: 'Not a click id',
    advice: 'What was sent is no id that Sluice makes. Look whether another macro stands in its place.',
  },
  click_unknown: {
    fault: 'sender',
    words: 'Unknown click',
    advice: 'No click has this id, and Sluice does not seem to have made it.',
  },
  click_other_organization: {
    fault: 'yours',
    words: 'Click of another workspace',
    advice:
      'The id was made by this installation, but not for this workspace. Look whether the key or address belongs to another one.',
  },
  click_not_stored: {
    fault: 'nobody',
    words: 'Click not stored',
    advice:
      'The id was made for this workspace, but its click is not stored: it is still on its way, its month is no longer kept, or nobody ever clicked with it. Run it again later.',
  },
  type_unknown: { fault: 'sender', words: 'Unknown type', advice: 'The type is none of the event types.' },
  status_unmapped: {
    fault: 'yours',
    words: 'Status without meaning',
    advice: 'The network sent a status its map does not name. Add it to the network’s statuses, then run it again.',
  },
  status_ignored: {
    fault: 'nobody',
    words: 'Ignored by your status map',
    advice:
      'The network’s status map ignores this status, as for rejected conversions, and no conversion of that transaction was recorded: nothing is.',
  },
  payout_invalid: {
    fault: 'sender',
    words: 'Bad payout',
    advice: 'A payout is a plain decimal from 0 to 1,000,000, such as 12.50.',
  },
  currency_not_usd: {
    fault: 'sender',
    words: 'Not in US dollars',
    advice: 'The network is set to US dollars only. Have it convert, then run it again, or have it send dollars.',
  },
  currency_missing: {
    fault: 'sender',
    words: 'No currency',
    advice: 'The network’s calls have to name their currency. Add its macro to the address, or say what they are in.',
  },
  rate_unknown: {
    fault: 'yours',
    words: 'No rate',
    advice:
      'No rate of the currency is known for the day it came. Set an own rate in Settings, Rates, or see what ails the sources there, then run it again: it takes the rate of that day.',
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
    advice: 'payload.telegram_user_id is a whole number, or a text of at most 128 characters.',
  },
  bot_unknown: {
    fault: 'yours',
    words: 'Unknown bot',
    advice: 'The bot it names is none of this workspace. Add it under Bots, then run it again.',
  },
  outside_campaigns: {
    fault: 'yours',
    words: 'Outside the key’s campaigns',
    advice: 'The key is restricted to campaigns, and the click is of none of them.',
  },
  right_missing: {
    fault: 'yours',
    words: 'Right not granted',
    advice: 'The key does not hold the right events. Grant it, then run it again.',
  },
  key_unusable: {
    fault: 'yours',
    words: 'Key not usable here',
    advice: 'The owner of the key is no admin or no member here any more, or its grant is unreadable.',
  },
  ip_not_listed: {
    fault: 'sender',
    words: 'Address not listed',
    advice:
      'The call came from an address that the network’s IP list does not hold. Nobody who is not on it can report for the network.',
  },
  network_off: { fault: 'yours', words: 'Network switched off', advice: 'Switch the network on, then run it again.' },
  body_unreadable: {
    fault: 'sender',
    words: 'Not readable',
    advice: 'The body is no JSON that can be stored. It cannot be run again.',
  },
  body_invalid: { fault: 'sender', words: 'Does not fit', advice: 'A field is not as the interface wants it.' },
  differs_from_recorded: {
    fault: 'sender',
    words: 'Differs from what was recorded',
    advice:
      'The conversion was recorded before, stays as it is, and this call says nothing that changes it. A status that says !reject or !refund would, and so would a network that may amend. Where the network pays more than was recorded, record the rest by hand with a transaction id of its own; where it pays less or takes it back, hold this against its bill. Where it is another conversion, have the network send a transaction id of its own with each.',
  },
  paid_for_other_types: {
    fault: 'yours',
    words: 'Worth nothing',
    advice:
      'The conversion is recorded, and its offer pays for other types. Under Offers choose this type too, or under Networks let the status stand for what the offer pays for: later conversions then earn the payout. To let this one earn it, approve it with an amount under Conversions. Where this type is not paid, nothing has to be done. Steps before what is paid, such as registrations, are told once a day for each network and offer.',
  },
  conversion_unknown: {
    fault: 'sender',
    words: 'Verdict on nothing recorded',
    advice:
      'It says that a conversion is approved, on hold or taken back, and none of this transaction is recorded on the click. It was tried again for a day. Run it again once the conversion is there.',
  },
  conversion_ambiguous: {
    fault: 'sender',
    words: 'Several conversions can be meant',
    advice:
      'It says what became of a conversion, and the click has several. Have the network send its transaction id, or say it of the right one under Conversions.',
  },
  not_yours: {
    fault: 'sender',
    words: 'Not this network’s conversion',
    advice: 'A network changes only what it has recorded itself. Change it under Conversions if it is right.',
  },
  too_many_revisions: {
    fault: 'yours',
    words: 'Revised too often',
    advice: 'It was revised 100 times. Look which systems contradict each other.',
  },
  click_not_kept: {
    fault: 'nobody',
    words: 'Click no longer kept',
    advice: 'The month of its click was deleted, so the figures of the conversion can change no more.',
  },
  failed: {
    fault: 'yours',
    words: 'Could not be stored',
    advice: 'The database would not take it. The log of the service says why.',
  },
  not_kept: {
    fault: 'nobody',
    words: 'Too many to keep',
    advice: 'More was refused within a minute than is kept. The number says how many.',
  },
} as const satisfies Record<string, { fault: Fault; words: string; advice: string }>

export const Diagnosis = z.enum(Object.keys(DIAGNOSES) as [keyof typeof DIAGNOSES])
export type Diagnosis = keyof typeof DIAGNOSES

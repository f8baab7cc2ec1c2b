/** Tells organic events of Telegram apart from failures. */
import { Refusal } from '../../contract/refusals.ts'

/**
 * Whether recording failed because the click or bot is unknown: of another organization, or no longer stored. Such an event is organic: nothing is
 * recorded, and Telegram need not send it again.
 */
export const isOrganic = (error: unknown): boolean =>
  error instanceof Refusal && ['click_not_found', 'bot_not_found'].includes(error.refusal)

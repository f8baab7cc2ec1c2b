/** Puts the rooms of automation together for `house.ts`. */
import { room } from '../ground/room.ts'
import type { Tools } from './rules/acts.ts'
import * as rulesApi from './rules/api.ts'
import { checkDeeds } from './rules/confirm.ts'
import { listRuleChecks } from './rules/log.ts'
import * as rules from './rules/rules.ts'
import { tryDeeds } from './rules/try.ts'

export type { Tools as RuleTools } from './rules/acts.ts'
export { openRuleRounds } from './rules/rounds.ts'

/** The endpoints. `tools` are known once all rooms are open. */
export const automationRooms = (tools: () => Tools) => [
  ...room(rulesApi, { ...rules, listRuleChecks, ...checkDeeds(tools), ...tryDeeds }),
]

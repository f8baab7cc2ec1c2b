// Plans of `explain (analyze, format json)`, including those of a cluster's nodes.

/** The fields of a plan's step that tests check. */
export type Plan = {
  'Actual Rows': number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
  'Distributed Query'?: object
}

/** The steps below a step: its own, and the first of each plan of other nodes. */
export const stepsBelow = (plan: Plan): Plan[] => [...(plan.Plans ?? []), ...plansIn(plan['Distributed Query'])]

function plansIn(told: unknown): Plan[] {
  if (typeof told !== 'object' || told === null) return []
  if ('Plan' in told) return [told.Plan as Plan]
  return Object.values(told).flatMap(plansIn)
}

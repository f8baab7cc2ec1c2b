// What `explain (analyze, format json)` says, down to what the nodes of a cluster did.

/** A step of a plan, as far as tests look at it. */
export type Plan = {
  'Actual Rows': number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
  'Distributed Query'?: object
}

/** The steps that a step has below it: its own, and where it asked other nodes, the first of each of their plans. */
export const stepsBelow = (plan: Plan): Plan[] => [...(plan.Plans ?? []), ...plansIn(plan['Distributed Query'])]

function plansIn(told: unknown): Plan[] {
  if (typeof told !== 'object' || told === null) return []
  if ('Plan' in told) return [told.Plan as Plan]
  return Object.values(told).flatMap(plansIn)
}

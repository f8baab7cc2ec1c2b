// What a soak measures and does not judge, in lines.
import { median } from '../ratio.ts'
import { QUESTIONS } from './errands.ts'
import { quarter } from './verdicts.ts'
import type { SoakPoint } from './watch.ts'

const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length

export function figuresOf(points: readonly SoakPoint[]): string[] {
  const change = (of: (point: SoakPoint) => number, digits = 0) => {
    const at = (number: 2 | 4) => median(quarter(points, number).map(of)).toFixed(digits)
    return `${at(2)} → ${at(4)}`
  }
  // On average, because the children work in bursts.
  const used = (['sluice', 'children', 'postgres', 'machine'] as const).map(kind => {
    const at = (number: 2 | 4) => mean(quarter(points, number).map(({ processors }) => processors[kind]))
    return `${kind} ${at(2).toFixed(2)} → ${at(4).toFixed(2)}`
  })
  const asked = QUESTIONS.map(kind => `${kind} ${change(point => point.asked_ms[kind])} ms`)
  return [
    'the medians of the second quarter → of the last:',
    `processors, on average: ${used.join(', ')}`,
    `questions: ${asked.join(', ')}`,
    `database ${change(({ database_mb }) => database_mb)} MB, DATA_DIR without it ${change(({ data_dir_mb }) => data_dir_mb)} MB`,
    `waiting: ${change(one => one.deliveries_waiting)} deliveries, ${change(one => one.unfolded)} sheets to fold, ${change(one => one.unsealed)} to seal`,
  ]
}

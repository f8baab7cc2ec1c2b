import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MEASURES } from './explore-measures.ts'
import { type FigureKey, FIGURES, figureOf, glossary, isFigure } from './figures.ts'
import { readFormula } from './formula.ts'

const PAGE = join(import.meta.dirname, '../../docs/reading.md')
const KEYS = Object.keys(FIGURES) as FigureKey[]

test('the glossary in docs/reading.md matches the definitions', () => {
  const page = readFileSync(PAGE, 'utf8')
  const [before = '', , after = ''] = page.split(/(\| Figure \|[^]*?\n)\n/)
  if (process.env['UPDATE_GOLDEN']) writeFileSync(PAGE, `${before}${glossary()}\n\n${after}`)
  assert.ok(readFileSync(PAGE, 'utf8').includes(glossary()), 'run with UPDATE_GOLDEN=1 when the change is meant')
})

test('every measure is a figure with a one-sentence definition and a unique name', () => {
  assert.deepEqual(
    MEASURES.filter(measure => !isFigure(measure)),
    [],
  )
  for (const key of KEYS) assert.match(figureOf(key).means, /^[A-Z][^.]*\.$/, key)
  const names = KEYS.flatMap(key => {
    const { name, short } = figureOf(key)
    return short === undefined ? [name] : [name, short]
  })
  assert.equal(new Set(names).size, names.length)
})

test('formulas of figures name existing figures', () => {
  for (const key of KEYS) {
    const { formula } = figureOf(key)
    if (formula !== undefined) assert.ok(!('wrong' in readFormula(formula, new Set(KEYS))), key)
  }
})

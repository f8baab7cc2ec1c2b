import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvFile, textCell } from './csv.ts'

/** Restores a text, as docs/reading.md describes. */
const undone = (cell: string) => cell.replaceAll(/(^|[,;\t\r\n])'(?=['"]*[=+\-@\t\r＝＋－＠])/g, '$1')

/** Random text with many of the characters that matter here. */
const nasty = fc
  .array(
    fc.constantFrom('=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n', ';', ',', "'", '"', ' ', 'a', '1'),
    { maxLength: 12 },
  )
  .map(characters => characters.join(''))
const line = fc.tuple(fc.oneof(nasty, fc.string()), nasty, fc.integer({ min: -99, max: 99 }), nasty)
const lines = fc.array(line, { minLength: 1, maxLength: 4 })
const fileOf = (some: readonly (readonly (string | number)[])[]) =>
  csvFile(some.map(cells => cells.map(cell => (typeof cell === 'number' ? String(cell) : textCell(cell)))))

test('a file read with commas returns the original texts once the apostrophes are removed', () => {
  fc.assert(
    fc.property(lines, some => {
      const read = parse(fileOf(some), { record_delimiter: ['\r\n'], relax_column_count: true }) as string[][]
      assert.deepEqual(
        read.map(cells => cells.map(undone)),
        some.map(cells => cells.map(String)),
      )
    }),
    { numRuns: 2000 },
  )
})

/**
 * Whether a spreadsheet would calculate the cell. Digits are a number of Sluice. If a text ends with a separator, the quote after it opens a cell that
 * begins with the file's own line break: then the rest must not be a formula.
 */
function isFormula(cell: string): boolean {
  const begin = cell.replace(/^(\r\n)+/, '')
  return /^[=+\-@\t\r＝＋－＠]/.test(begin) && !/^-\d+([,"]|$)/.test(begin)
}

/**
 * Cells as a spreadsheet reads them: a cell that begins with a quote extends to the closing one, an empty pair is dropped, and text after the quotes
 * belongs to the cell.
 */
function asSpreadsheet(file: string, separators: string): string[] {
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  let isFresh = true
  for (let at = 0; at < file.length; at += 1) {
    const character = file[at] ?? ''
    if (isQuoted) {
      if (character !== '"') cell += character
      else if (file[at + 1] === '"') {
        cell += '"'
        at += 1
      } else isQuoted = false
    } else if (isFresh && character === '"') isQuoted = true
    else if (separators.includes(character) || character === '\r' || character === '\n') {
      cells.push(cell)
      cell = ''
      isFresh = true
      continue
    } else cell += character
    isFresh = false
  }
  return [...cells, cell]
}

test('with any separator, and with or without quotes, no text is read as a formula', () => {
  fc.assert(
    fc.property(lines, some => {
      const file = fileOf(some)
      for (const separators of [',', ';', '\t', ',;', ',\t', ';\t', ',;\t']) {
        const withoutQuotes = file.split(new RegExp(`[${separators}\r\n]`)).map(cell => cell.replace(/^"*/, ''))
        for (const cell of [...asSpreadsheet(file, separators), ...withoutQuotes])
          assert.ok(
            !isFormula(cell),
            `${JSON.stringify(file)} holds ${JSON.stringify(cell)} for ${JSON.stringify(separators)}`,
          )
      }
    }),
    { numRuns: 2000 },
  )
})

test('formulas in values of a click are defused, and ordinary text stays unchanged', () => {
  const cells: [text: string, cell: string][] = [
    ['', '""'],
    ['banner-7', '"banner-7"'],
    ['size 3 x 4, red', '"size 3 x 4, red"'],
    ['a "quoted" word', '"a ""quoted"" word"'],
    ['=1+1', `"'=1+1"`],
    ["a;=1+cmd|' /C calc'!A0", `"a;'=1+cmd|' /C calc'!A0"`],
    ['a\n=1', `"a\n'=1"`],
    ['＝1＋1', `"'＝1＋1"`],
    ['a;"=1', `"a;'""=1"`],
    ["'=1", `"''=1"`],
  ]
  for (const [text, cell] of cells) assert.equal(textCell(text), cell)
})

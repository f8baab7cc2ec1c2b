import fc from 'fast-check'

const FIRST_HALF = 0xd8_00
const HALVES = 0x8_00
const LAST = 0x10_ff_ff

/**
 * Any character of Unicode but halves of pairs, as a `unit` of `fc.string`. fast-check's own `binary` writes all of them into a map, which takes a
 * second of processor time.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: LAST - HALVES }).map(
  nth => String.fromCodePoint(nth < FIRST_HALF ? nth : nth + HALVES),
  character => {
    const point = typeof character === 'string' ? character.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== character) throw new Error('not one character')
    return point < FIRST_HALF ? point : point - HALVES
  },
)

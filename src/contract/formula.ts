/**
 * Figures of one's own: an expression of a row's figures, numbers, + - * / and parentheses. It is read once and worked out for each row;
 * whatever has no value, and whatever is divided by 0, makes the whole of it none. The screen of Explore and its file share it.
 */

/** A figure of a row by its name; undefined where the row has none. */
type FigureOf = (name: string) => number | undefined

type Worked = (figure: FigureOf) => number | undefined

/** What it is worked out by, and the figures it names; or what is wrong with it. */
type Formula = { readonly value: Worked; readonly names: ReadonlySet<string> } | { readonly wrong: string }

/** Longer than anyone types, and short enough to stand in an address. */
export const LONGEST_FORMULA = 200

const TOKEN = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|([A-Za-z]\w*)|([-+*/()]))/y

type Token = { readonly text: string; readonly kind: 'number' | 'name' | 'sign' }

class Misread extends Error {}

function tokensOf(text: string): Token[] {
  const found: Token[] = []
  TOKEN.lastIndex = 0
  const end = text.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    if (match === null) throw new Misread(`“${text.slice(at).trim().charAt(0)}” has no meaning here`)
    const [, number, name, sign = ''] = match
    if (number !== undefined) found.push({ text: number, kind: 'number' })
    else if (name !== undefined) found.push({ text: name.toLowerCase(), kind: 'name' })
    else found.push({ text: sign, kind: 'sign' })
  }
  return found
}

/** Both or neither; and what is not finite is no figure. */
const both =
  (left: Worked, right: Worked, meet: (a: number, b: number) => number): Worked =>
  figure => {
    const [a, b] = [left(figure), right(figure)]
    if (a === undefined || b === undefined) return undefined
    const met = meet(a, b)
    return Number.isFinite(met) ? met : undefined
  }

const MEET: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? Number.NaN : a / b),
}

/** Reads an expression whose names are among `known`; what is wrong is said in a sentence without its full stop. */
export function readFormula(text: string, known: ReadonlySet<string>): Formula {
  if (text.trim() === '') return { wrong: 'Type a formula, such as revenue / clicks' }
  if (text.length > LONGEST_FORMULA) return { wrong: `A formula has at most ${LONGEST_FORMULA} characters` }
  try {
    const tokens = tokensOf(text)
    const [value, rest] = sum(tokens, known)
    const [left] = rest
    if (left !== undefined) throw new Misread(`“${left.text}” stands where a sign is missing`)
    return { value, names: new Set(tokens.filter(({ kind }) => kind === 'name').map(one => one.text)) }
  } catch (error) {
    if (error instanceof Misread) return { wrong: error.message }
    throw error
  }
}

type Read = readonly [worked: Worked, rest: readonly Token[]]

const isSign = (token: Token | undefined, signs: string): token is Token =>
  token?.kind === 'sign' && signs.includes(token.text)

/** Terms between signs of one rank, from the left. */
function chain(part: (tokens: readonly Token[], known: ReadonlySet<string>) => Read, signs: string) {
  return (tokens: readonly Token[], known: ReadonlySet<string>): Read => {
    let [worked, rest] = part(tokens, known)
    for (let [next] = rest; isSign(next, signs); [next] = rest) {
      const [right, after] = part(rest.slice(1), known)
      worked = both(worked, right, MEET[next.text] as (a: number, b: number) => number)
      rest = after
    }
    return [worked, rest]
  }
}

const product = chain(one, '*/')
const sum = chain(product, '+-')

function one(tokens: readonly Token[], known: ReadonlySet<string>): Read {
  const [token, ...rest] = tokens
  if (token === undefined) throw new Misread('Something is missing at the end')
  if (token.kind === 'number') {
    const number = Number(token.text)
    return [() => number, rest]
  }
  if (token.kind === 'name') {
    if (!known.has(token.text)) throw new Misread(`There is no figure called “${token.text}”`)
    return [figure => figure(token.text), rest]
  }
  if (token.text === '-') {
    const [worked, after] = one(rest, known)
    return [
      both(
        () => 0,
        worked,
        (a, b) => a - b,
      ),
      after,
    ]
  }
  if (token.text !== '(') throw new Misread(`“${token.text}” stands where a figure is missing`)
  const [worked, after] = sum(rest, known)
  if (!isSign(after[0], ')')) throw new Misread('A parenthesis is not closed')
  return [worked, after.slice(1)]
}

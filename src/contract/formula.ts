/**
 * Formulas for custom columns: an expression of a row's figures, numbers, + - * / and parentheses. It is parsed once and evaluated for each row. If a
 * part has no value or is divided by 0, the result has no value. Shared by Explore's screen and file.
 */

/** A figure of a row by its name; undefined if the row has none. */
type FigureOf = (name: string) => number | undefined

type Evaluate = (figure: FigureOf) => number | undefined

/** A parsed formula and the figures it names, or what is wrong with it. */
type Formula = { readonly value: Evaluate; readonly names: ReadonlySet<string> } | { readonly wrong: string }

/** Longer than anyone types, and short enough for an address. */
export const LONGEST_FORMULA = 200

const TOKEN = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|([A-Za-z]\w*)|([-+*/()]))/y

type Token = { readonly text: string; readonly kind: 'number' | 'name' | 'sign' }

class FormulaError extends Error {}

function tokensOf(text: string): Token[] {
  const found: Token[] = []
  TOKEN.lastIndex = 0
  const end = text.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(text)
    if (match === null) throw new FormulaError(`“${text.slice(at).trim().charAt(0)}” has no meaning here`)
    const [, number, name, sign = ''] = match
    if (number !== undefined) found.push({ text: number, kind: 'number' })
    else if (name !== undefined) found.push({ text: name.toLowerCase(), kind: 'name' })
    else found.push({ text: sign, kind: 'sign' })
  }
  return found
}

/** Combines two values. Without a value if either has none, or if the result is not finite. */
const combine =
  (left: Evaluate, right: Evaluate, apply: (a: number, b: number) => number): Evaluate =>
  figure => {
    const [a, b] = [left(figure), right(figure)]
    if (a === undefined || b === undefined) return undefined
    const result = apply(a, b)
    return Number.isFinite(result) ? result : undefined
  }

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? Number.NaN : a / b),
}

/** Parses an expression whose names must be among `known`. `wrong` is a sentence without its full stop. */
export function readFormula(text: string, known: ReadonlySet<string>): Formula {
  if (text.trim() === '') return { wrong: 'Type a formula, such as revenue / clicks' }
  if (text.length > LONGEST_FORMULA) return { wrong: `A formula has at most ${LONGEST_FORMULA} characters` }
  try {
    const tokens = tokensOf(text)
    const [value, rest] = sum(tokens, known)
    const [left] = rest
    if (left !== undefined) throw new FormulaError(`An operator is missing before “${left.text}”`)
    return { value, names: new Set(tokens.filter(({ kind }) => kind === 'name').map(one => one.text)) }
  } catch (error) {
    if (error instanceof FormulaError) return { wrong: error.message }
    throw error
  }
}

type Parsed = readonly [value: Evaluate, rest: readonly Token[]]

const isSign = (token: Token | undefined, signs: string): token is Token =>
  token?.kind === 'sign' && signs.includes(token.text)

/** Parses terms between operators of one precedence, from the left. */
function chain(part: (tokens: readonly Token[], known: ReadonlySet<string>) => Parsed, signs: string) {
  return (tokens: readonly Token[], known: ReadonlySet<string>): Parsed => {
    let [value, rest] = part(tokens, known)
    for (let [next] = rest; isSign(next, signs); [next] = rest) {
      const [right, after] = part(rest.slice(1), known)
      value = combine(value, right, OPERATIONS[next.text] as (a: number, b: number) => number)
      rest = after
    }
    return [value, rest]
  }
}

const product = chain(factor, '*/')
const sum = chain(product, '+-')

function factor(tokens: readonly Token[], known: ReadonlySet<string>): Parsed {
  const [token, ...rest] = tokens
  if (token === undefined) throw new FormulaError('Something is missing at the end')
  if (token.kind === 'number') {
    const number = Number(token.text)
    return [() => number, rest]
  }
  if (token.kind === 'name') {
    if (!known.has(token.text)) throw new FormulaError(`There is no figure called “${token.text}”`)
    return [figure => figure(token.text), rest]
  }
  if (token.text === '-') {
    const [value, after] = factor(rest, known)
    return [
      combine(
        () => 0,
        value,
        (a, b) => a - b,
      ),
      after,
    ]
  }
  if (token.text !== '(') throw new FormulaError(`A figure is missing before “${token.text}”`)
  const [value, after] = sum(rest, known)
  if (!isSign(after[0], ')')) throw new FormulaError('A parenthesis is not closed')
  return [value, after.slice(1)]
}

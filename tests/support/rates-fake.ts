// Fakes of the European Central Bank and the Bank of Russia on loopback. They refuse unknown requests, and answer files in the banks' formats with the
// days of a test.
import { type Arrival, startReceiver } from './receiver.ts'

/** By day, YYYY-MM-DD: currencies per euro, or roubles for a number of units. */
export type EcbDays = Record<string, Record<string, string>>
export type CbrDays = Record<string, Record<string, [nominal: number, value: string]>>

export type RatesFake = {
  readonly origin: string
  readonly calls: Arrival[]
  readonly ecb: EcbDays
  readonly cbr: CbrDays
  /** Calls that the banks would not answer. */
  readonly strange: Arrival[]
  /** Sets the answer to every call from now on; `undefined` restores the banks' own answers. */
  answer(prepared: { status: number; body: string } | undefined): void
  close(): Promise<void>
}

const cube = (day: string, rates: Record<string, string>): string =>
  `\t\t<Cube time="${day}">\n${Object.entries(rates)
    .map(([currency, rate]) => `\t\t\t<Cube currency="${currency}" rate="${rate}"/>\n`)
    .join('')}\t\t</Cube>\n`

/** In the bank's format: the daily file has single quotes, the long ones double quotes. */
function ecbFile(days: EcbDays, isDaily: boolean): string {
  const newest = Object.keys(days).toSorted().toReversed()
  const cubes = (isDaily ? newest.slice(0, 1) : newest).map(day => cube(day, days[day] ?? {})).join('')
  const file = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
${cubes}\t</Cube>
</gesmes:Envelope>`
  return isDaily ? file.replaceAll(/(currency|rate|time)="([^"]*)"/g, "$1='$2'") : file
}

const dotted = (day: string): string => day.split('-').toReversed().join('.')

/** The answer for a day: its own rates, or those of the last earlier day with rates. In windows-1251, like the bank's. */
function cbrFile(days: CbrDays, asked: string): Buffer {
  const day = Object.keys(days)
    .filter(one => one <= asked)
    .toSorted()
    .at(-1)
  if (day === undefined)
    return Buffer.from('<?xml version="1.0" encoding="windows-1251"?><ValCurs>Error in parameters</ValCurs>')
  const valutes = Object.entries(days[day] ?? {}).map(
    ([currency, [nominal, value]], at) =>
      `<Valute ID="R0${1000 + at}"><NumCode>${String(at).padStart(3, '0')}</NumCode><CharCode>${currency}</CharCode>` +
      // "Валюта" in windows-1251.
      `<Nominal>${nominal}</Nominal><Name>\u00c2\u00e0\u00eb\u00fe\u00f2\u00e0</Name><Value>${value.replace('.', ',')}</Value>` +
      `<VunitRate>${(Number(value) / nominal).toString().replace('.', ',')}</VunitRate></Valute>`,
  )
  const head = `<?xml version="1.0" encoding="windows-1251"?><ValCurs Date="${dotted(day)}" name="Foreign Currency Market">`
  return Buffer.from(`${head}${valutes.join('')}</ValCurs>`, 'latin1')
}

/** Starts both on one origin. Days can be added while they run. */
export async function startRates(ecb: EcbDays, cbr: CbrDays): Promise<RatesFake> {
  let prepared: { status: number; body: string } | undefined
  const strange: Arrival[] = []
  const receiver = await startReceiver((call, response) => {
    if (prepared !== undefined) return void response.writeHead(prepared.status).end(prepared.body)
    const file = /^\/stats\/eurofxref\/eurofxref-(daily|hist-90d)\.xml$/.exec(call.url)?.[1]
    const day = /^\/scripts\/XML_daily\.asp\?date_req=(\d\d)\/(\d\d)\/(\d{4})$/.exec(call.url)
    if (call.method === 'GET' && file !== undefined)
      return void response.writeHead(200, { 'content-type': 'text/xml' }).end(ecbFile(ecb, file === 'daily'))
    if (call.method === 'GET' && day !== null)
      return void response
        .writeHead(200, { 'content-type': 'application/xml; charset=windows-1251' })
        .end(cbrFile(cbr, `${day[3]}-${day[2]}-${day[1]}`))
    strange.push(call)
    return void response.writeHead(404).end('not found')
  })
  return {
    origin: receiver.origin,
    calls: receiver.arrivals,
    ecb,
    cbr,
    strange,
    answer: given => {
      prepared = given
    },
    close: () => receiver.close(),
  }
}

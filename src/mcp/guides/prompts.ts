/** Prompts: the skills as commands of a host, with arguments from the user. They use the texts of the skills. */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { EVENT_TYPES } from '../../contract/event-types.ts'
import { SOURCE_FIELDS } from '../../traffic/campaigns/api.ts'
import { withEscapes } from '../answer-text.ts'
import { SKILLS, type SkillName } from './skills.ts'

/** The context of a completion. `campaigns` are those the key is restricted to; it may not list others without a right. */
type CompletionContext = { readonly campaigns: readonly string[]; readonly now: Date }

type Argument = {
  readonly name: string
  readonly description: string
  readonly required?: boolean
  readonly choices?: (context: CompletionContext) => readonly string[]
  /** The fault of a value, if any. */
  readonly objection?: (value: string) => string | undefined
}

type Prompt = {
  readonly name: SkillName
  readonly title: string
  readonly arguments: readonly Argument[]
}

const CAMPAIGN: Argument = {
  name: 'campaign_id',
  description: 'The id of the campaign.',
  choices: ({ campaigns }) => campaigns,
}

const WEEK: Argument = {
  name: 'week',
  description: 'The Monday of the week, such as 2026-03-02. By default the last whole week.',
  choices: ({ now }) => Array.from({ length: 8 }, (_, ago) => mondayBefore(now, ago)),
  objection: value => (isMonday(value) ? undefined : 'must be a Monday, such as 2026-03-02'),
}

const PROMPTS: readonly Prompt[] = [
  {
    name: 'launch-campaign',
    title: 'Launch a campaign',
    arguments: [
      {
        name: 'offer_url',
        description: 'Address of the offer, with the parameter that takes the click id.',
        required: true,
      },
      { name: 'payout', description: 'The payout of a conversion in US dollars, such as 12.50.' },
      { name: 'landing_url', description: 'Address of your own landing page.' },
      { name: 'source', description: 'The traffic source, and its parameters for click id and zone.' },
    ],
  },
  { name: 'weekly-roi', title: 'ROI of a week', arguments: [WEEK, CAMPAIGN] },
  { name: 'losing-sub1', title: 'Find losing sub1', arguments: [{ ...CAMPAIGN, required: true }, WEEK] },
  {
    name: 'wire-network',
    title: 'Connect a network',
    arguments: [
      { ...CAMPAIGN, required: true },
      { name: 'network', description: 'The network or tracker, and its postback address.' },
      { name: 'event_type', description: 'The conversions to report to it.', choices: () => EVENT_TYPES },
      { name: 'parameter', description: `Its parameter for the click id, which fills ${SOURCE_FIELDS[0]}.` },
    ],
  },
  {
    name: 'clean-up',
    title: 'Clean up',
    arguments: [{ name: 'what', description: 'The objects to remove, by name or id.' }],
  },
]

const describe = (name: SkillName): string => SKILLS.find(skill => skill.name === name)?.description ?? ''

/** As prompts/list shows them. */
export const SHOWN_PROMPTS = PROMPTS.map(({ name, title, arguments: all }) => ({
  name,
  title,
  description: describe(name),
  arguments: all.map(({ name, description, required = false }) => ({ name, description, required })),
}))

/** The message of a prompt, or the faults of its arguments. */
export function promptFor(
  name: string,
  given: Readonly<Record<string, string>>,
  now: Date,
): { text: string } | { error: string } {
  const prompt = PROMPTS.find(one => one.name === name)
  const skill = SKILLS.find(one => one.name === name)
  if (prompt === undefined || skill === undefined)
    return {
      error: `There is no prompt ${JSON.stringify(name.slice(0, 100))}. There are ${PROMPTS.map(one => one.name).join(', ')}.`,
    }
  const problems = [
    ...Object.keys(given)
      .filter(one => !prompt.arguments.some(({ name }) => name === one))
      .map(one => `${one.slice(0, 50)}: ${name} has no such argument`),
    ...prompt.arguments.flatMap(({ name, required, objection }) => {
      const value = given[name]?.trim() ?? ''
      if (value === '') return required ? [`${name}: is required`] : []
      const wrong = objection?.(value)
      return wrong === undefined ? [] : [`${name}: ${wrong}`]
    }),
  ]
  if (problems.length > 0) return { error: problems.slice(0, 5).join('; ') }
  return { text: `${skill.body}\n${givenValues(prompt, given, now)}` }
}

/** The given values and the dates of the week, for the end of the message. Values are quoted, because a person may have pasted anything. */
function givenValues(prompt: Prompt, given: Readonly<Record<string, string>>, now: Date): string {
  const hasWeek = prompt.arguments.some(({ name }) => name === WEEK.name)
  const week = (given[WEEK.name]?.trim() ?? '') || mondayBefore(now, 1)
  const values = prompt.arguments.flatMap(({ name }) => {
    const value = given[name]?.trim() ?? ''
    return value === '' || name === WEEK.name ? [] : [`- ${name}: ${withEscapes(JSON.stringify(value))}`]
  })
  const days = hasWeek
    ? [
        `- The week: date_from ${week}, date_to ${dayAfter(week, 6)}T23:59:59.999Z`,
        `- The week before: date_from ${dayAfter(week, -7)}, date_to ${dayAfter(week, -1)}T23:59:59.999Z`,
      ]
    : []
  const lines = [...values, ...days]
  return ['## Given', '', ...(lines.length > 0 ? lines : ['Nothing: ask.']), ''].join('\n')
}

/** The protocol's limit of values in an answer. */
const MOST_VALUES = 100

/** The choices of an argument that begin with the typed text. None for an argument without choices. */
export function completionOf(prompt: string, argument: string, typed: string, context: CompletionContext) {
  const { choices } = PROMPTS.find(({ name }) => name === prompt)?.arguments.find(({ name }) => name === argument) ?? {}
  const begins = typed.trim().toLowerCase()
  const found = (choices?.(context) ?? []).filter(choice => choice.toLowerCase().startsWith(begins))
  return { values: found.slice(0, MOST_VALUES), total: found.length, hasMore: found.length > MOST_VALUES }
}

const dayAfter = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS)

/** The Monday of the week that many weeks ago; 0 is the current week. */
function mondayBefore(now: Date, weeks: number): string {
  const sinceMonday = (now.getUTCDay() + 6) % 7
  return dayOf(now.getTime() - (sinceMonday + 7 * weeks) * DAY_MS)
}

function isMonday(value: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : Number.NaN
  return !Number.isNaN(ms) && dayOf(ms) === value && new Date(ms).getUTCDay() === 1
}

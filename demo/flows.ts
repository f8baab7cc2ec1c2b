// The demo's click flows, by country, device, and for crawlers.
import type { FlowEdge, FlowNode, Graph } from '../src/traffic/click-flows/api.ts'
import type { DemoFlow } from './world.ts'

const then = (...ids: string[]): FlowEdge[] => ids.slice(1).map((to, at) => ({ from: ids[at] ?? '', to }))
const fork = (from: string, yes: string, no: string): FlowEdge[] => [
  { from, to: yes, branch: 'yes' },
  { from, to: no, branch: 'no' },
]
const entry: FlowNode = { id: 'entry', type: 'entry', label: 'Every visitor' }

/** Poland has its own page; so has Romania since the second version. */
function ketoGraph(idOf: { poland: string; romania: string | undefined; offer: string }): Graph {
  const countries: FlowNode[] = [
    { id: 'poland', type: 'condition', label: 'Poland?', field: 'geo', values: ['PL'] },
    { id: 'page-pl', type: 'landing', label: 'Story in Polish', landing_id: idOf.poland },
    { id: 'offer', type: 'offer', label: 'Keto Prime', offer_id: idOf.offer },
  ]
  if (idOf.romania === undefined)
    return {
      nodes: [entry, ...countries],
      edges: [...then('entry', 'poland'), ...fork('poland', 'page-pl', 'offer'), ...then('page-pl', 'offer')],
    }
  return {
    nodes: [
      entry,
      ...countries,
      { id: 'romania', type: 'condition', label: 'Romania?', field: 'geo', values: ['RO'] },
      { id: 'page-ro', type: 'landing', label: 'Story in Romanian', landing_id: idOf.romania },
    ],
    edges: [
      ...then('entry', 'poland'),
      ...fork('poland', 'page-pl', 'romania'),
      ...fork('romania', 'page-ro', 'offer'),
      ...then('page-pl', 'offer'),
      ...then('page-ro', 'offer'),
    ],
  }
}

export const KETO_CEE: DemoFlow = {
  name: 'Keto Prime · CEE by country',
  landings: [
    { key: 'pl', name: 'Keto Prime · story PL', path: 'keto-pl' },
    { key: 'ro', name: 'Keto Prime · story RO', path: 'keto-ro' },
  ],
  versions: [
    {
      from: 41,
      graph: ({ landing, offer }) => ketoGraph({ poland: landing('pl'), romania: undefined, offer: offer('keto') }),
    },
    {
      from: 19,
      graph: ({ landing, offer }) => ketoGraph({ poland: landing('pl'), romania: landing('ro'), offer: offer('keto') }),
    },
  ],
}

export const COINPULSE: DemoFlow = {
  name: 'CoinPulse · to the bot by device',
  landings: [{ key: 'scan', name: 'CoinPulse · scan the code', path: 'coinpulse-scan' }],
  versions: [
    {
      from: 58,
      graph: ({ landing, bot }) => ({
        nodes: [
          entry,
          { id: 'crawler', type: 'condition', label: 'Crawler?', field: 'bot' },
          { id: 'site', type: 'redirect', label: 'The site', url: 'https://offers.example/coinpulse' },
          {
            id: 'desktop',
            type: 'condition',
            label: 'On a desktop?',
            field: 'device',
            values: ['desktop'],
          },
          { id: 'scan', type: 'landing', label: 'Scan with your phone', landing_id: landing('scan') },
          { id: 'telegram', type: 'bot', label: 'The bot', bot_id: bot },
        ],
        edges: [
          ...then('entry', 'crawler'),
          ...fork('crawler', 'site', 'desktop'),
          ...fork('desktop', 'scan', 'telegram'),
          ...then('scan', 'telegram'),
        ],
      }),
    },
  ],
}

// The eleven faults that the tests must find: each is a change of the source, with the test that must fail.

export type Seeded = {
  fault: string
  file: string
  /** Replacements; each `from` must occur exactly once in the current source. */
  changes: readonly (readonly [from: string, to: string])[]
  test: string
  /** The part of the test's name that is run. */
  named: string
}

export const SEEDED: readonly Seeded[] = [
  {
    fault: 'commits are not durable',
    file: 'src/ground/db/embedded.ts',
    changes: [["  'jit=off',", "  'jit=off',\n  'synchronous_commit=off',"]],
    test: 'tests/faults/database.test.ts',
    named: 'crashes and comes back',
  },
  {
    fault: 'no unique index on charges',
    file: 'migrations/0005_events.sql',
    changes: [['create unique index ledger_charged_once', 'create index ledger_charged_once']],
    test: 'src/money/billing/billing.test.ts',
    named: 'the database itself',
  },
  {
    fault: 'event ids are random',
    file: 'src/intake/events/identity.ts',
    changes: [
      [
        "hash('sha256', JSON.stringify(parts), 'hex')",
        "hash('sha256', `${JSON.stringify(parts)}${Math.random()}`, 'hex')",
      ],
    ],
    test: 'src/intake/events/identity.test.ts',
    named: 'is the same for ever',
  },
  {
    fault: 'the token of an Idempotency-Key lives one second',
    file: 'src/gate/once.ts',
    changes: [['const TOKEN_MS = BUDGET_MS + 5000', 'const TOKEN_MS = 1000']],
    test: 'src/gate/once.test.ts',
    named: 'stays taken while its work runs',
  },
  {
    fault: 'no fence: the last to finish wins',
    file: 'src/outgoing/deliveries/finish.ts',
    changes: [['and lease_token = $8', 'and $8::uuid is not null']],
    test: 'src/outgoing/deliveries/claim.test.ts',
    named: 'slept past its lease',
  },
  {
    fault: 'redirects are followed',
    file: 'src/outgoing/deliveries/send.ts',
    changes: [
      ['dispatcher: agent,', 'dispatcher: agent.compose(interceptors.redirect({ maxRedirections: 3 })),'],
      ['import { type Dispatcher,', 'import { interceptors, type Dispatcher,'],
    ],
    test: 'src/outgoing/deliveries/worker.test.ts',
    named: 'a redirect is a failure',
  },
  {
    fault: 'addresses are checked only when names are looked up',
    file: 'src/ground/guard.ts',
    changes: [
      [
        'if (isIP(literal) !== 0 && !isPublicAddress(literal)) return callback',
        'if (literal === undefined) return callback',
      ],
      ['if (isPublicAddress(reached)) return callback', 'if (reached !== undefined) return callback'],
    ],
    test: 'src/ground/guard.test.ts',
    named: 'no internal address is connected to',
  },
  {
    fault: 'errors of a connection in use have no listener',
    file: 'src/ground/db/connect.ts',
    changes: [["pool.on('connect', client => client.on('error', () => away.note()))", '']],
    test: 'src/ground/db/connect.test.ts',
    named: 'a connection lost between two statements',
  },
  {
    fault: 'the Redis client has its default timeouts',
    file: 'src/gate/redis.ts',
    changes: [
      ['    enableOfflineQueue: false,\n', ''],
      ['    maxRetriesPerRequest: 0,\n', ''],
      ['setTimeout(() => setImmediate(giveUp), ANSWER_MS)', 'setTimeout(giveUp, 60_000)'],
      ['    connectTimeout: 500,\n', ''],
      ['    socketTimeout: 2000,\n', ''],
    ],
    test: 'src/gate/quota.test.ts',
    named: 'while Redis hangs or is down',
  },
  {
    fault: 'one statement lacks its organization',
    file: 'src/outgoing/ad-accounts/breaking.ts',
    changes: [['from ad_accounts where org_id = $1 and', 'from ad_accounts where $1::int is not null and']],
    test: 'tests/architecture.test.ts',
    named: 'every statement on rows of an organization',
  },
  {
    fault: 'errors are answered with their internals',
    file: 'src/gate/gate.ts',
    changes: [
      ['app.setErrorHandler((error, request, reply) => {', 'void ((error: never, request: never, reply: never) => {'],
    ],
    test: 'src/gate/gate.test.ts',
    named: 'hostile bodies',
  },
]

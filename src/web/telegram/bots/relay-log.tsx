/** The log of updates that were forwarded to a bot's program. */
import { useQuery } from '@tanstack/react-query'
import { listRelays } from '../../../telegram/bots/api.ts'
import { ask } from '../../ground/call.ts'
import { ago, count, moment, NONE } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { sentence } from '../../ground/ui/plain-words.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

const LINES = 20

export function RelayLog({ id }: { id: string }) {
  const relays = useQuery({ ...ask(listRelays, { params: { id }, query: { limit: LINES } }), refetchInterval: 10_000 })
  return (
    <Loaded query={relays} what="log">
      {({ data }) =>
        data.length === 0 ? (
          <p className="text-ink-soft">Nothing has been forwarded yet. Send the bot a message to test it.</p>
        ) : (
          <Table caption="Forwarded updates">
            <thead>
              <tr>
                <Head stay>When</Head>
                <Head>Type</Head>
                <Head>Outcome</Head>
                <Head numeric>Status</Head>
                <Head numeric>ms</Head>
              </tr>
            </thead>
            <tbody>
              {data.map(({ id: line, at, type, status, ms, reason }) => (
                <Row key={line}>
                  <RowHead stay title={moment(at)}>
                    {ago(at)}
                  </RowHead>
                  <Cell className="font-mono text-sm">{type}</Cell>
                  <Cell>
                    {reason === null ? (
                      <Badge tone="good">Delivered</Badge>
                    ) : (
                      <Badge tone="warn">Will be retried</Badge>
                    )}{' '}
                    {reason !== null && <span className="text-ink-faint">{sentence(reason)}</span>}
                  </Cell>
                  <Cell numeric>{status ?? NONE}</Cell>
                  <Cell numeric>{count(ms)}</Cell>
                </Row>
              ))}
            </tbody>
          </Table>
        )
      }
    </Loaded>
  )
}

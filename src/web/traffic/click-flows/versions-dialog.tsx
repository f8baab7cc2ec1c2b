/** The published versions of a flow, each with a button that restores it. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { listClickFlowVersions, restoreClickFlowVersion } from '../../../traffic/click-flows/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody } from '../../ground/ui/dialog.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import type { FlowRow } from './graph.ts'

type Props = { flow: FlowRow; open: boolean; onClose: () => void; onRestored: (flow: FlowRow) => void }

export function VersionsDialog({ flow, open, onClose, onRestored }: Props) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Versions"
      description="Restoring replaces the draft. Traffic does not change until you publish."
      width="wide"
    >
      <DialogBody>
        <Versions flow={flow} onRestored={onRestored} />
      </DialogBody>
    </Dialog>
  )
}

function Versions({ flow, onRestored }: Pick<Props, 'flow' | 'onRestored'>) {
  const { role } = useActive()
  const versions = useQuery(ask(listClickFlowVersions, { params: { id: flow.id }, query: { limit: 200 } }))
  const restore = useMutation({
    mutationFn: (version: number) =>
      call(restoreClickFlowVersion, { params: { id: flow.id, version: String(version) } }),
    onSuccess: (restored, version) => {
      onRestored(restored)
      notify(`Version ${version} is in the draft`, 'Publish it to make it live.')
    },
  })
  return (
    <>
      <RefusalNote refused={restore.error} />
      <Loaded query={versions}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-ink-soft">Nothing has been published yet.</p>
          ) : (
            <Table caption="Versions">
              <thead>
                <tr>
                  <Head>Version</Head>
                  <Head>Published</Head>
                  <Head numeric>Nodes</Head>
                  <Head unseen>Actions</Head>
                </tr>
              </thead>
              <tbody>
                {data.map(({ version, published_at, nodes }) => (
                  <Row key={version}>
                    <RowHead>
                      {version}{' '}
                      {version === flow.published_version && flow.status === 'active' && (
                        <Badge tone="good">Live</Badge>
                      )}
                    </RowHead>
                    <Cell>{moment(published_at)}</Cell>
                    <Cell numeric>{nodes}</Cell>
                    <Cell className="text-right">
                      <Button
                        size="sm"
                        look="quiet"
                        icon={Undo2}
                        pending={restore.isPending && restore.variables === version}
                        reason={reasonAgainst(restoreClickFlowVersion, role)}
                        onClick={() => restore.mutate(version)}
                      >
                        Restore<span className="sr-only"> version {version}</span>
                      </Button>
                    </Cell>
                  </Row>
                ))}
              </tbody>
            </Table>
          )
        }
      </Loaded>
    </>
  )
}

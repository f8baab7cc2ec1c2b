/** One rule: its sentence, what it asks, and the log of its checks. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pencil, Play } from 'lucide-react'
import { useState } from 'react'
import {
  checkRule,
  confirmRule,
  listRuleChecks,
  listRules,
  readRule,
  updateRule,
} from '../../../automation/rules/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { useCampaignNames } from '../../ground/campaign-choice.tsx'
import { count, moment } from '../../ground/figures/figures.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { useTags } from '../../ground/many/tag-dots.tsx'
import { useSources } from '../../ground/source-choice.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { Loaded, PageHeader, Section } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { CheckLog } from './log.tsx'
import { EditRule } from './rule-form.tsx'
import { RuleState } from './rules-page.tsx'
import { type CheckView, reasonInWords, rhythmInWords, ruleInWords, type RuleView } from './words.ts'

const route = getRouteApi('/inside/automation/rules/$id')

export function RulePage() {
  const { id } = route.useParams()
  const { search, go } = useListAddress(route.useSearch())
  const rule = useQuery(ask(readRule, { params: { id } }))
  const log = useQuery({
    ...ask(listRuleChecks, { params: { id }, query: search }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <BackLink to="/automation/rules">Rules</BackLink>
      <Loaded query={rule} what="rule">
        {data => (
          <>
            <RuleHead rule={data} />
            <Asked rule={data} checks={log.data?.data ?? []} />
            <Section title="Log" words="Checks that acted, asked or waited, with the figures of that time.">
              <Loaded query={log} what="log">
                {checks => (
                  <>
                    <CheckLog checks={checks.data} />
                    <Pager cursor={search.cursor} next={checks.next_cursor} onGo={go} />
                  </>
                )}
              </Loaded>
            </Section>
            <ObjectHistory kind="rule" id={id} />
          </>
        )}
      </Loaded>
    </>
  )
}

function RuleHead({ rule }: { rule: RuleView }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [editing, setEditing] = useState(false)
  const [isChecking, setChecking] = useState(false)
  const check = async () => {
    setChecking(true)
    try {
      notify(resultOf(await call(checkRule, { params: { id: rule.id } })))
      await refresh(readRule, listRuleChecks, listRules)
    } catch (error) {
      notify('It could not be checked', error instanceof Error ? error.message : undefined)
    }
    setChecking(false)
  }
  return (
    <>
      <PageHeader
        title={rule.name}
        words={`${ruleInWords(rule)} Over ${useReach(rule)}; checked ${rhythmInWords(rule)}.`}
      >
        <Button icon={Play} pending={isChecking} reason={reasonAgainst(checkRule, role)} onClick={() => void check()}>
          Check now
        </Button>
        <Button icon={Pencil} reason={reasonAgainst(updateRule, role)} onClick={() => setEditing(true)}>
          Edit
        </Button>
      </PageHeader>
      <p className="mb-6 flex flex-wrap items-center gap-2">
        <RuleState rule={rule} />
        <span className="text-ink-soft">{stateInWords(rule)}</span>
      </p>
      <EditRule rule={rule} open={editing} onClose={() => setEditing(false)} />
    </>
  )
}

function stateInWords({ waits_for, next_check_at, active }: RuleView): string {
  const why = waits_for === null ? '' : `Because ${reasonInWords(waits_for)}. `
  return `${why}${active && next_check_at !== null ? `Next check ${moment(next_check_at)}.` : 'It is checked only by hand.'}`
}

function resultOf({ state, objects, reason }: CheckView): string {
  if (state === 'acted') return `It acted on ${count(objects.length)} ${objects.length === 1 ? 'object' : 'objects'}`
  if (state === 'asked') return 'It asks first'
  return state === 'waited' ? `It waits: ${reasonInWords(reason)}` : 'Nothing fulfils it now'
}

/** The campaigns in words. */
function useReach({ over }: RuleView): string {
  const ids = 'campaign_ids' in over ? over.campaign_ids : []
  const nameOf = useCampaignNames(ids)
  const [tags, sources] = [useTags(), useSources()]
  if ('tag_id' in over) return `campaigns tagged ${tags.find(({ id }) => id === over.tag_id)?.name ?? '…'}`
  if ('traffic_source_id' in over)
    return `campaigns of ${sources.find(({ id }) => id === over.traffic_source_id)?.name ?? '…'}`
  const [first = null] = ids
  return ids.length === 1 ? (nameOf(first) ?? 'a campaign') : `${count(ids.length)} campaigns`
}

/** The check that waits for a person. */
function Asked({ rule, checks }: { rule: RuleView; checks: readonly CheckView[] }) {
  const { role } = useActive()
  const confirm = useConfirm()
  const asked = checks.find(({ state }) => state === 'asked')
  if (rule.state !== 'asking' || asked === undefined) return null
  const many = `${count(asked.objects.length)} ${asked.objects.length === 1 ? 'object' : 'objects'}`
  return (
    <div className="mb-6">
      <Note kind="warning">
        <span className="flex flex-wrap items-center gap-3">
          {`It would act on ${many}, which is above its stop line. Nothing was done.`}
          <Button
            size="sm"
            look="primary"
            reason={reasonAgainst(confirmRule, role)}
            onClick={() =>
              confirm({
                title: `Act on ${many}?`,
                words: 'The objects are those of the log. Each act can be put back.',
                action: 'Do it',
                look: 'primary',
                deed: () => call(confirmRule, { params: { id: rule.id }, body: { check_id: asked.id } }),
                refresh: [readRule, listRuleChecks],
                news: 'It is done',
              })
            }
          >
            Do it…
          </Button>
        </span>
      </Note>
    </div>
  )
}

/** The workspace's bots, and the control that filters a page by one of them. */
import { useQuery } from '@tanstack/react-query'
import { listBots } from '../../../telegram/bots/api.ts'
import { ask } from '../../ground/call.ts'
import { Choice } from '../../ground/ui/choice.tsx'

const allBots = ask(listBots, { query: { limit: 200 } })

/** The workspace's bots, without deleted ones. */
export function useBots() {
  return useQuery(allBots).data?.data ?? []
}

export function BotChoice({ bot, onChange }: { bot: string | undefined; onChange: (bot: string | undefined) => void }) {
  const bots = useBots()
  const known = bots.map(({ id }) => id)
  return (
    <Choice
      label="Bot"
      any="All bots"
      options={bot === undefined || known.includes(bot) ? known : [bot, ...known]}
      words={id => bots.find(one => one.id === id)?.username ?? id}
      value={bot}
      onChange={onChange}
    />
  )
}

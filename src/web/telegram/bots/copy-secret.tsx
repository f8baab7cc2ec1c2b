/** The URL that copies of updates are posted to, and its secret, which is shown once. */
import { useMutation } from '@tanstack/react-query'
import { rotateCopySecret } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { type BotRow, SHOW_BOTS } from './state.tsx'

/** The code for grammY and telegraf; docs/telegram.md has the code for Python. */
const middleware = (url: string, secret: string) => `bot.use((ctx, next) => {
  fetch('${url}', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': '${secret}' },
    body: JSON.stringify(ctx.update),
  }).catch(console.error)
  return next()
})`

export function CopySecret({ bot: { id, has_copy_secret } }: { bot: BotRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const make = useMutation({
    mutationFn: () => call(rotateCopySecret, { params: { id } }),
    gcTime: 0,
    onSuccess: () => refresh(...SHOW_BOTS),
  })
  return (
    <div className="flex flex-col items-start gap-3">
      {make.data === undefined ? (
        <p className="text-ink-soft">
          {has_copy_secret
            ? 'A secret is set. A new secret is shown once and replaces the old one at once.'
            : 'Your program sends copies with this secret. It is shown once.'}
        </p>
      ) : (
        <div className="flex w-full min-w-0 flex-col gap-3">
          <CodeBlock text={make.data.url} label="URL" />
          <CodeBlock text={make.data.secret} label="secret" />
          <p className="text-ink-soft">
            For grammY and telegraf: add it before all other middleware. For Python see docs/telegram.md.
          </p>
          <CodeBlock text={middleware(make.data.url, make.data.secret)} label="middleware" />
        </div>
      )}
      <RefusalNote refused={make.error} />
      <Button reason={reasonAgainst(rotateCopySecret, role)} pending={make.isPending} onClick={() => make.mutate()}>
        {has_copy_secret ? 'New secret' : 'Create secret'}
      </Button>
    </div>
  )
}

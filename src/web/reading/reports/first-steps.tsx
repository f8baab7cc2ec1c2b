/** First steps, shown instead of figures in a workspace without campaigns. */
import { Link } from '@tanstack/react-router'
import { KeyRound, Link2, type LucideIcon, Megaphone } from 'lucide-react'
import type { ReactNode } from 'react'

export function FirstSteps() {
  return (
    <ol className="grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-3">
      <Step
        number={1}
        icon={Megaphone}
        title="Create a campaign"
        words="A campaign has the link for your ads and leads to an offer, which pays. You can add the offer in the same form."
      >
        <Link to="/campaigns/new">New campaign</Link>
      </Step>
      <Step
        number={2}
        icon={Link2}
        title="Put its link into your ads"
        words="The page of the campaign shows the link, with the macros of your traffic source. Clicks count from the first visitor on."
      >
        <Link to="/campaigns">Campaigns</Link>
      </Step>
      <Step
        number={3}
        icon={KeyRound}
        title="Report conversions"
        words="Enter the network’s postback URL at the network, or give your server an API key. Conversions appear here at once."
      >
        <Link to="/networks">Networks</Link>
        <span className="mx-2 text-ink-faint">or</span>
        <Link to="/settings/api-keys">API keys</Link>
      </Step>
    </ol>
  )
}

type StepProps = { number: number; icon: LucideIcon; title: string; words: string; children: ReactNode }

function Step({ number, icon: Icon, title, words, children }: StepProps) {
  return (
    <li className="flex flex-col items-start gap-1 bg-surface px-5 py-5">
      <span className="mb-1 flex items-center gap-2 text-accent">
        <Icon aria-hidden className="size-5" strokeWidth={1.5} />
        <span className="text-sm font-medium">Step {number}</span>
      </span>
      <h2 className="text-lg">{title}</h2>
      <p className="flex-1 text-ink-soft">{words}</p>
      <span className="mt-2 font-medium text-accent [&>a]:underline-offset-2 [&>a]:hover:underline">{children}</span>
    </li>
  )
}

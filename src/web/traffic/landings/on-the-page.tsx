/** What a landing page needs: a link, and better a script as well. */
import { useTracker } from '../../ground/tracker.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Section } from '../../ground/ui/page.tsx'

export function OnThePage() {
  const tracker = useTracker()
  return (
    <Section title="On your landing page" className="mt-8 max-w-3xl">
      <ol className="flex list-decimal flex-col gap-5 pl-5">
        <li>
          <p className="mb-2">Give the landing an address that hands the click on, such as</p>
          <CodeBlock label="Address of the landing" text="https://example.com/?click_id={click_id}" />
        </li>
        <li>
          <p className="mb-2">
            Lead every button and link to the offer here. It works without JavaScript too: Sluice knows the visitor’s
            click, and the offer that was chosen with it.
          </p>
          <CodeBlock label="Link to the offer" text={`<a href="${tracker}/o">Continue</a>`} />
        </li>
        <li>
          <p className="mb-2">
            Add the script. It marks the click as landed, keeps its id on the pages of your site, and puts it into those
            links. Buttons that are no links take part with <code className="font-mono">data-sluice-offer</code>. If the
            page gets the id under another name, say so with <code className="font-mono">data-click="subid"</code>.
          </p>
          <CodeBlock label="Script" text={`<script src="${tracker}/sluice.js" defer></script>`} />
        </li>
      </ol>
    </Section>
  )
}

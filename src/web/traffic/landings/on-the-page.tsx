/** The code for a landing page: the link to the offer, and the optional script. */
import { useTracker } from '../../ground/tracker.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Section } from '../../ground/ui/page.tsx'

export function OnThePage() {
  const tracker = useTracker()
  return (
    <Section title="On your landing page" className="mt-8 max-w-3xl">
      <ol className="flex list-decimal flex-col gap-5 pl-5">
        <li>
          <p className="mb-2">Pass the click id in the landing’s address, such as</p>
          <CodeBlock label="Address of the landing" text="https://example.com/?click_id={click_id}" />
        </li>
        <li>
          <p className="mb-2">
            Point every button and link to the offer here. It also works without JavaScript: Sluice finds the visitor’s
            click and sends them to the offer that was chosen with it.
          </p>
          <CodeBlock label="Link to the offer" text={`<a href="${tracker}/o">Continue</a>`} />
        </li>
        <li>
          <p className="mb-2">
            Add the script. It marks the click as landed, remembers its id on the pages of your site, and adds it to
            those links. For a button that is not a link, add <code className="font-mono">data-sluice-offer</code>. If
            the page gets the id under another name, set <code className="font-mono">data-click="subid"</code>.
          </p>
          <CodeBlock label="Script" text={`<script src="${tracker}/sluice.js" defer></script>`} />
        </li>
      </ol>
    </Section>
  )
}

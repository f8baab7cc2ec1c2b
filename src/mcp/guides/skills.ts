/**
 * Skills: how a job is done with the tools, each a text of its own in `skills/`. Prompts hand the same texts to hosts without skills, and a
 * test makes every call that stands in them.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const SKILL_NAMES = ['launch-campaign', 'weekly-roi', 'losing-sub1', 'wire-network', 'clean-up'] as const
export type SkillName = (typeof SKILL_NAMES)[number]

type Skill = {
  readonly name: SkillName
  readonly description: string
  readonly uri: string
  /** The whole file, and what follows its frontmatter. */
  readonly text: string
  readonly body: string
}

/** The frontmatter is two plain lines, so that no reader of YAML finds anything else in it. */
const FORM = /^---\nname: ([a-z0-9-]+)\ndescription: ([^\n#]+)\n---\n\n([^]+)$/

function readSkill(name: SkillName): Skill {
  const text = readFileSync(join(import.meta.dirname, 'skills', name, 'SKILL.md'), 'utf8')
  const [, said, description = '', body = ''] = FORM.exec(text) ?? []
  if (said !== name) throw new Error(`${name}: its SKILL.md does not begin with its name and description`)
  return { name, description, uri: `skill://${name}/SKILL.md`, text, body }
}

/** A skill as the extension for skills lists it: its digest and size are those of the file as it is read. */
export function entryOf({ uri, name, description, text }: Skill) {
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  return { uri, frontmatter: { name, description }, resources: [{ uri, digest, size: Buffer.byteLength(text) }] }
}

export const SKILLS: readonly Skill[] = SKILL_NAMES.map(readSkill)

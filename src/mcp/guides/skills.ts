/**
 * Skills: instructions for a job with the tools, one text each in `skills/`. Prompts give the same texts to hosts without skills. A test makes every
 * call in them.
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
  /** The whole file. */
  readonly text: string
  /** The file without its frontmatter. */
  readonly body: string
}

/** The frontmatter must be two plain lines, so that every YAML parser reads the same values. */
const FORM = /^---\nname: ([a-z0-9-]+)\ndescription: ([^\n#]+)\n---\n\n([^]+)$/

function readSkill(name: SkillName): Skill {
  const text = readFileSync(join(import.meta.dirname, 'skills', name, 'SKILL.md'), 'utf8')
  const [, written, description = '', body = ''] = FORM.exec(text) ?? []
  if (written !== name) throw new Error(`${name}: its SKILL.md does not begin with its name and description`)
  return { name, description, uri: `skill://${name}/SKILL.md`, text, body }
}

/** The entry of a skill in skills/list. Digest and size are those of the file. */
export function entryOf({ uri, name, description, text }: Skill) {
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  return { uri, frontmatter: { name, description }, resources: [{ uri, digest, size: Buffer.byteLength(text) }] }
}

export const SKILLS: readonly Skill[] = SKILL_NAMES.map(readSkill)

import { capabilityRules } from './capability-rules.ts'
import { claudeRules } from './claude-rules.ts'
import { geminiRules } from './gemini-rules.ts'
import { hostRules } from './host-rules.ts'
import { modelRules } from './model-rules.ts'
import { openAiRules } from './openai-rules.ts'
import type { HostName, ModelTraits, ResolvedTraits, TraitRule } from './traits.ts'

const rules: readonly TraitRule[] = [
  ...hostRules,
  ...capabilityRules,
  ...modelRules,
  ...openAiRules,
  ...claudeRules,
  ...geminiRules,
]

export interface NamedModel {
  baseModel: string
  /** The operator's facts; they win over the rules. */
  traits?: ModelTraits | undefined
}

/** Resolved rules by host and model. Catalogues have hundreds of models, so the bound is not reached in practice. */
const resolved = new Map<string, ResolvedTraits>()
const maximumResolved = 4_096

/** The last result for a model of the catalogue, which is the same object for each call. */
const latest = new WeakMap<NamedModel, { host: HostName | undefined; traits: ResolvedTraits }>()

/** What a model accepts at a host. `model` must not change afterwards. */
export function resolveTraits(host: HostName | undefined, model: NamedModel): ResolvedTraits {
  const last = latest.get(model)
  if (last?.host === host && last) return last.traits
  const traits = traitsOf(host, model)
  latest.set(model, { host, traits })
  return traits
}

function traitsOf(host: HostName | undefined, model: NamedModel): ResolvedTraits {
  const key = `${host}\n${model.baseModel}`
  let known = resolved.get(key)
  if (!known) {
    known = mergeRules(host, plainName(model.baseModel))
    if (resolved.size >= maximumResolved) resolved.clear()
    resolved.set(key, known)
  }
  return model.traits ? { ...known, ...model.traits } : known
}

function mergeRules(host: HostName | undefined, name: string): ResolvedTraits {
  const applied = rules.filter(
    ({ hosts, models }) => (hosts === '*' || (host !== undefined && hosts.includes(host))) && models.test(name),
  )
  const sources = new Map(applied.map(({ source, checked }) => [source, { source, checked }]))
  return Object.assign({}, ...applied.map(({ traits }) => traits), { sources: [...sources.values()] }) as ResolvedTraits
}

/**
 * The name of a model without additions of hosts: path (`openai/gpt-oss-20b`), inference profile and vendor of Bedrock
 * (`eu.anthropic.claude-…`) and `ft:`; in lower case. Dots between digits become dashes for Claude only, whose names use both.
 */
export function plainName(id: string): string {
  const last = id.toLowerCase().split('/').at(-1)!
  const plain = last
    .replace(/^ft:/, '')
    .replace(
      /^(?:[a-z-]{2,8}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|xai|zai)\./,
      '',
    )
  return plain.startsWith('claude') ? plain.replaceAll('.', '-') : plain
}

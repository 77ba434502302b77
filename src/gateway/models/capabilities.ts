import type { HostedToolKind } from '../../platform/kernel/index.ts'
import type { Capability, ResolvedTraits, WireFormat } from '../providers/index.ts'
import type { BuiltCatalogue } from './build-catalogue.ts'
import { type Catalogue, type Deployment, type ResolvedModel, sideOf } from './catalogue.ts'

/** The deployments of a resolved model that can do all of it, as far as their traits are known. */
export function capableDeployments(
  built: BuiltCatalogue,
  { model, deployments }: ResolvedModel,
  capabilities: Iterable<Capability>,
): readonly Deployment[] {
  const needed = [...capabilities]
  const traits = new Map(built.models.get(model.id)?.all.map(({ deployment, traits }) => [deployment.id, traits]))
  return deployments.filter(({ id, providerId, hosting }) => {
    const format = built.providers.get(providerId)?.settings.format
    const isEu = sideOf(hosting) === 'eu'
    return needed.every((capability) => canServe({ traits: traits.get(id) ?? unknown, format, isEu }, capability))
  })
}

const unknown: Partial<ResolvedTraits> = {}

/** What lists of models state for each chat model. */
const listedCapabilities: readonly Capability[] = [
  'tools',
  'images',
  'files',
  'audio',
  'json_object',
  'json_schema',
  'several_choices',
  'logprobs',
]

/** What at least one of the deployments can do beyond text; nothing of models of other kinds than chat. */
export function listCapabilities(catalogue: Pick<Catalogue, 'capable'>, resolved: ResolvedModel): Capability[] {
  if (resolved.model.kind !== 'chat') return []
  return listedCapabilities.filter((capability) => catalogue.capable(resolved, [capability]).length > 0)
}

/** Formats whose hosts have the own fields and tools of a family. */
const formatsOf: Readonly<Record<string, readonly WireFormat[]>> = {
  anthropic: ['anthropic'],
  openai: ['openai', 'azure'],
  gemini: ['gemini', 'vertex'],
}

/** Compatible hosts of OpenAI's format have no tools of OpenAI. */
function isOfFamily(
  family: string,
  { traits, format }: { traits: Partial<ResolvedTraits>; format: WireFormat | undefined },
): boolean {
  if (format === undefined || (family === 'openai' && traits.hostedTools === undefined)) return false
  return formatsOf[family]?.includes(format) === true
}

/** What nothing is known about is tried: the host decides. */
export function canServe(
  { traits, format, isEu = false }: { traits: Partial<ResolvedTraits>; format: WireFormat | undefined; isEu?: boolean },
  capability: Capability,
): boolean {
  switch (capability) {
    case 'tools':
      return traits.tools !== false
    case 'named_tool_choice':
      return traits.tools !== false && traits.forcedTools !== false
    case 'forced_tools':
      return traits.tools !== false && (traits.forcedTools ?? true) === true
    case 'parallel_tools':
      return traits.singleToolCall !== false
    case 'images':
    case 'files':
    case 'audio':
    case 'logprobs':
      return traits[capability] !== false
    case 'several_choices':
      return traits.severalChoices !== false
    case 'json_object':
    case 'json_schema':
      return traits.structured !== 'tool' || traits.tools !== false
    case 'tools_with_schema':
      return traits.toolsWithSchema !== false
    case 'tools_with_hosted':
      return traits.toolsWithHosted !== false
    default:
      // No provider states that its searches, containers and calls of servers stay in the EU.
      if (capability.startsWith('use:'))
        return !isEu && traits.hostedTools?.includes(capability.slice('use:'.length) as HostedToolKind) === true
      return capability
        .slice('hosted:'.length)
        .split('|')
        .some((family) => isOfFamily(family, { traits, format }))
  }
}

/** Whether a deployment of the model accepts tools, as far as its traits are known. */
export function acceptsTools(built: BuiltCatalogue, { model, deployments }: ResolvedModel): boolean {
  const refusing = new Set(
    built.models.get(model.id)?.all.flatMap(({ deployment, traits }) => (traits.tools === false ? deployment.id : [])),
  )
  return deployments.some(({ id }) => !refusing.has(id))
}

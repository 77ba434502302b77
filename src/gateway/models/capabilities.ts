import type { Capability, ResolvedTraits } from '../providers/index.ts'
import type { BuiltCatalogue } from './build-catalogue.ts'
import type { Deployment, ResolvedModel } from './catalogue.ts'

/** The deployments of a resolved model that can do all of it, as far as their traits are known. */
export function capableDeployments(
  built: BuiltCatalogue,
  { model, deployments }: ResolvedModel,
  capabilities: Iterable<Capability>,
): readonly Deployment[] {
  const needed = [...capabilities]
  const traits = new Map(built.models.get(model.id)?.all.map(({ deployment, traits }) => [deployment.id, traits]))
  return deployments.filter(({ id }) => needed.every((capability) => isCapable(traits.get(id), capability)))
}

function isCapable(traits: ResolvedTraits | undefined, capability: Capability): boolean {
  return capability === 'tools' && traits?.tools !== false
}

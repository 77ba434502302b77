import type { BuiltCatalogue } from './build-catalogue.ts'
import type { ResolvedModel } from './catalogue.ts'

/** Whether a deployment of the model accepts tools, as far as its traits are known. */
export function acceptsTools(built: BuiltCatalogue, { model, deployments }: ResolvedModel): boolean {
  const refusing = new Set(
    built.models.get(model.id)?.all.flatMap(({ deployment, traits }) => (traits.tools === false ? deployment.id : [])),
  )
  return deployments.some(({ id }) => !refusing.has(id))
}

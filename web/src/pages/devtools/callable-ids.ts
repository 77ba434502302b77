import type { OfferedModelView } from '@contract/console-developer-tools.ts'

/** The ids that a completion accepts: those of enabled models, with their EU ids. */
export function callableIds(models: OfferedModelView[]): string[] {
  return models.flatMap(({ enabled, standard, eu }) =>
    enabled ? [standard, eu].flatMap((side) => (side ? [side.id] : [])) : [],
  )
}

import type { OfferedIdView, OfferedModelView } from '@contract/console-developer-tools.ts'

/** The ids that a completion accepts: those of enabled models, with their EU ids. */
export function callableIds(models: OfferedModelView[]): string[] {
  return callableSides(models).map(({ id }) => id)
}

function callableSides(models: OfferedModelView[]): OfferedIdView[] {
  return models.flatMap(({ enabled, standard, eu }) =>
    enabled ? [standard, eu].flatMap((side) => (side ? [side] : [])) : [],
  )
}

/** The id that is chosen first: a free one if there is any, so that a new provider never makes the first call cost money. */
export function firstChoice<Side extends Pick<OfferedIdView, 'id' | 'prices'>>(
  sides: readonly Side[],
): Side | undefined {
  return sides.find(({ prices }) => Number(prices.input) === 0 && Number(prices.output) === 0) ?? sides[0]
}

/** The id of the first choice among the models of an organisation. */
export const firstId = (models: OfferedModelView[]): string | undefined => firstChoice(callableSides(models))?.id

import { maximumSelectableModels, type SelectableModelView } from '../contract/console-spaces.ts'
import type { OfferedModel } from '../gateway/models/index.ts'
import type { Organisation } from '../tenants/organisations/index.ts'
import { renderOfferedModel } from './offered-models.ts'

/** The ids that a Space of the organisation can use, each side of a model separately, by id. */
export function listSelectableModels(
  offered: readonly OfferedModel[],
  organisation: Organisation,
  nowMs: number,
): { models: SelectableModelView[]; modelsTotal: number } {
  const models = offered
    .filter(({ isDisabled }) => !isDisabled)
    .flatMap((model) => {
      // A Space needs none of them.
      const context = { organisation, nowMs, capabilitiesOf: () => [] }
      const { standard, eu, ownedBy, tier, contextTokens, maxOutputTokens } = renderOfferedModel(model, context)
      return [standard, eu].flatMap((side) =>
        side === null
          ? []
          : [
              {
                id: side.id,
                ownedBy,
                tier,
                contextTokens,
                maxOutputTokens,
                hostings: side.hostings,
                input: side.prices.input,
                output: side.prices.output,
              },
            ],
      )
    })
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
  return { models: models.slice(0, maximumSelectableModels), modelsTotal: models.length }
}

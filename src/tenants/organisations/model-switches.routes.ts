import { switchModelsSchema } from '../../contract/console-developer-tools.ts'
import { errorResponses } from '../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import { actorOf } from '../operators/index.ts'
import { administrators } from './administrators.ts'
import type { Organisations } from './organisations.ts'

const described = describeRoutes(administrators, 'Console: developer tools')

/** Enables and disables single models, so that two administrators do not overwrite each other's list. */
export function modelSwitchRoutes({
  organisations,
  canonicalModelId,
}: {
  organisations: Pick<Organisations, 'get' | 'switchModels'>
  /** The canonical id behind a model's id or alias; undefined for an unknown model. */
  canonicalModelId: (id: string) => string | undefined
}): Routes {
  function toCanonical(param: 'enable' | 'disable', ids: readonly string[], disabled: readonly string[]): string[] {
    return ids.map((id) => {
      // A model that is disabled may no longer exist.
      const canonical = disabled.includes(id) ? id : canonicalModelId(id)
      if (canonical !== undefined) return canonical
      throw new AppError('invalid_request', `${param}: there is no model ${id}.`, { param })
    })
  }

  return (app) => {
    app.patch(
      '/api/organisations/:id/models',
      described('switchOrganisationModels', 'Enable or disable models for an organisation', {
        description:
          'Ids or aliases without `eu/`. A disabled model and its EU id are neither listed nor callable, from the next request on.',
        params: idParamsSchema,
        body: switchModelsSchema,
        response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404) },
      }),
      async (request, reply) => {
        const { id } = request.params
        const { enable = [], disable = [] } = request.body
        const disabled = organisations.get(id)?.disabledModels ?? []
        const ids = {
          enable: toCanonical('enable', enable, disabled),
          disable: toCanonical('disable', disable, disabled),
        }
        await organisations.switchModels(id, ids, actorOf(request))
        return reply.code(204).send(null)
      },
    )
  }
}

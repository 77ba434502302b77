import { errorResponses } from '../../contract/errors.ts'
import { goldenSettingsSchema, updateGoldenSettingsSchema } from '../../contract/golden-settings.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import type { Routes } from '../../platform/http/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import { routesOfSpace, type Space } from '../spaces/index.ts'
import type { GoldenSettings } from './golden-settings.ts'

export interface GoldenSettingsRoutesDependencies {
  settings: GoldenSettings
  getSpace: (id: string) => Space | undefined
}

const path = '/api/spaces/:id/golden-questions/settings'

/** `/api/spaces/{id}/golden-questions/settings`: schedule, limits and the gate before publishing. */
export function goldenSettingsRoutes({ settings, getSpace }: GoldenSettingsRoutesDependencies): Routes {
  const { forMembers, forAdministrators, spaceOf } = routesOfSpace(getSpace, 'Golden questions')
  return (app) => {
    app.get(
      path,
      forMembers('getGoldenSettings', 'Get the settings of golden questions', {
        params: idParamsSchema,
        response: { 200: goldenSettingsSchema, ...errorResponses(401, 403, 404) },
      }),
      (request) => settings.load(spaceOf(request.params.id)),
    )
    app.patch(
      path,
      forAdministrators('updateGoldenSettings', 'Change the settings of golden questions', {
        description: 'Absent fields keep their values, also within `passing`; `gate` and `schedule` are replaced.',
        params: idParamsSchema,
        headers: ifMatchHeadersSchema,
        body: updateGoldenSettingsSchema,
        response: { 200: goldenSettingsSchema, ...errorResponses(400, 401, 403, 404, 409) },
      }),
      (request) =>
        settings.update(spaceOf(request.params.id), request.body, actorOf(request), request.headers['if-match']),
    )
  }
}

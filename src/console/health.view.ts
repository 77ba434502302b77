import { consoleFailingSchema, consoleHealthSchema } from '../contract/console-health.ts'
import { errorResponses } from '../contract/errors.ts'
import { describeRoutes, type Routes } from '../platform/http/index.ts'
import type { HealthReport } from './health-report.ts'

const described = describeRoutes({ role: 'operator' }, 'Console: models')

/** The operator's page of the health of providers. */
export function healthView({ report }: { report: HealthReport }): Routes {
  return (app) => {
    app.get(
      '/api/console/health',
      described('viewHealth', 'Health of providers over 30 days', {
        description:
          'Availability, latency, errors by class and circuits, of all instances together. An instance adds what it has counted every 10 seconds.',
        response: { 200: consoleHealthSchema, ...errorResponses(401, 403) },
      }),
      () => report.load(),
    )
    app.get(
      '/api/console/health/failing',
      described('listFailingDeployments', 'What fails now', {
        description: 'Deployments that at least one instance fails to call: an open circuit, or an account error.',
        response: { 200: consoleFailingSchema, ...errorResponses(401, 403) },
      }),
      async () => ({ items: await report.loadFailing() }),
    )
  }
}

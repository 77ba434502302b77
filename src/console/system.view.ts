import { consoleSystemSchema } from '../contract/console-system.ts'
import { errorResponses } from '../contract/errors.ts'
import { describeRoutes, type Routes } from '../platform/http/index.ts'
import type { SystemReport } from './system-report.ts'

const described = describeRoutes({ role: 'operator' }, 'Console')

/** The operator's page of the system. */
export function systemView({ report }: { report: SystemReport }): Routes {
  return (app) => {
    app.get(
      '/api/console/system',
      described('getConsoleSystem', 'State of the system', {
        description:
          'Process, instances, job queue, storage, search index and the last warnings. Storage is counted at most every five minutes, all else at most every two seconds.',
        response: { 200: consoleSystemSchema, ...errorResponses(401, 403) },
      }),
      () => report.load(),
    )
  }
}

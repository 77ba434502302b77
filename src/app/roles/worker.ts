import { operationsRoutes } from '../../platform/http/index.ts'
import { workerParts, type WorkerParts } from '../compose-worker.ts'
import type { ServiceOptions } from '../given.ts'
import { describeDocumentParts } from '../parts/describe-start.ts'
import { openService, type Service } from '../service.ts'
import { openStorage, type Storage } from '../storage.ts'

/** The service of a process with the role `worker`. Over HTTP it only reports whether it is ready. */
export async function createWorkerService(options: ServiceOptions<Storage>): Promise<Service<WorkerParts>> {
  const storage = await (options.storage ?? openStorage(options))
  const { corpus } = storage.databases
  const routes = ({ checkReadiness }: WorkerParts) => [operationsRoutes({ checkReadiness })]
  return openService(options, { storage, corpus, list: workerParts, routes, describe: describeDocumentParts })
}

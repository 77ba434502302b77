import { type Parts, servingParts } from '../compose.ts'
import type { ServiceOptions } from '../given.ts'
import { describeDocumentParts } from '../parts/describe-start.ts'
import { createRoutes } from '../routes.ts'
import { openService, type Service } from '../service.ts'
import { openStorage, type Storage } from '../storage.ts'

/** The service of a process with the role `all` or `api`. */
export async function createService(options: ServiceOptions<Storage>): Promise<Service<Parts>> {
  const storage = await (options.storage ?? openStorage(options))
  const { corpus } = storage.databases
  return openService(options, {
    storage,
    corpus,
    list: servingParts,
    routes: createRoutes,
    describe: describeDocumentParts,
  })
}

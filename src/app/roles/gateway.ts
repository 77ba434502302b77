import { gatewayParts, type GatewayParts } from '../compose-gateway.ts'
import { routesOfGateway } from '../gateway-routes.ts'
import type { ServiceOptions } from '../given.ts'
import { openService, type Service } from '../service.ts'
import { type ControlStorage, openControlStorage } from '../storage.ts'

/** The service of a process with the role `gateway`. */
export async function createGatewayService(options: ServiceOptions<ControlStorage>): Promise<Service<GatewayParts>> {
  const storage = await (options.storage ?? openControlStorage(options))
  return openService(options, {
    storage,
    corpus: null,
    list: gatewayParts,
    routes: routesOfGateway,
    describe: () => [],
  })
}

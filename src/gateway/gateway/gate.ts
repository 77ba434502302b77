import { type Organisation, assertGatewayAccess } from '../../tenants/organisations/index.ts'

/** `onRequest` of every route of the gateway: plan, operator's enablement, opt-in, before the body is even read. */
export function gate(request: { organisation: Organisation }, _reply: unknown, done: () => void): void {
  assertGatewayAccess(request.organisation)
  done()
}

import type { InstanceId } from '../../platform/kernel/index.ts'

/** The instance's row is gone: another instance presumed it dead, settled its holds and freed its leases. */
export class FencedError extends Error {
  readonly instanceId: InstanceId

  constructor(instanceId: InstanceId) {
    super('another instance has presumed this one dead')
    this.name = 'FencedError'
    this.instanceId = instanceId
  }
}
